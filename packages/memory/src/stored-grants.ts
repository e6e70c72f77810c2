import type { LoadedRole, NamedGrant, PermissionRecord, RoleRecord } from "@latchkey/core";
import { frozenCopy } from "./frozen.js";
import type { StoredGrant } from "./grant-catalog.js";

/** A permission of a workspace. */
export class StoredPermission implements StoredGrant {
  readonly record: PermissionRecord;
  readonly named: NamedGrant;
  isLive = true;

  constructor(record: PermissionRecord) {
    this.record = frozenCopy(record);
    this.named = nameOf(this.record);
  }
}

/** A role of a workspace with the permissions that it gives. */
export class StoredRole implements StoredGrant {
  record: RoleRecord;
  readonly named: NamedGrant;
  /** Also those that were deleted since. */
  permissions: readonly StoredPermission[];
  isLive = true;

  constructor(record: RoleRecord, permissions: readonly StoredPermission[]) {
    this.record = frozenCopy(record);
    this.named = nameOf(this.record);
    this.permissions = permissions;
  }

  load(): LoadedRole {
    return { role: this.record, permissions: namesOf(this.permissions) };
  }
}

/** Those of the grants that still exist, in ascending order of name. */
export function namesOf(grants: readonly StoredGrant[]): readonly NamedGrant[] {
  const live = grants.filter(({ isLive }) => isLive).map(({ named }) => named);
  return Object.freeze(live.sort((one, other) => (one.name < other.name ? -1 : 1)));
}

function nameOf({ id, name }: NamedGrant): NamedGrant {
  return Object.freeze({ id, name });
}
