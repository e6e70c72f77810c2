import { type DirectGrants, effectivePermissions } from "@latchkey/core";
import { namesOf, type StoredPermission, type StoredRole } from "./stored-grants.js";

/** What a key holds, by name, as a verification asks for it and as a listing shows it. */
export interface GrantNames {
  readonly direct: DirectGrants;
  readonly roles: readonly string[];
  /** Direct and through roles. */
  readonly permissions: readonly string[];
}

const NOTHING: readonly never[] = Object.freeze([]);
const NO_NAMES: GrantNames = Object.freeze({
  direct: Object.freeze({ roles: NOTHING, permissions: NOTHING }),
  roles: NOTHING,
  permissions: NOTHING,
});

/** Roles and permissions of one key. */
export class HeldGrants {
  readonly roles: readonly StoredRole[];
  readonly permissions: readonly StoredPermission[];
  #names = NO_NAMES;
  /** At which epoch of the workspace the names were put together. */
  #epoch = -1;

  constructor(roles: readonly StoredRole[], permissions: readonly StoredPermission[]) {
    this.roles = roles;
    this.permissions = permissions;
  }

  /**
   * The names as they are now, put together anew only when the epoch has moved: it does whenever a role or
   * permission is changed or deleted, so that such a change need not visit the keys, however many they are.
   */
  namesAt(epoch: number): GrantNames {
    if (this === NO_GRANTS) return NO_NAMES;
    if (this.#epoch !== epoch) {
      this.#names = namesHeld(this.roles, this.permissions);
      this.#epoch = epoch;
    }
    return this.#names;
  }
}

/** Shared by all keys that hold nothing. */
export const NO_GRANTS = new HeldGrants(NOTHING, NOTHING);

function namesHeld(
  roles: readonly StoredRole[],
  permissions: readonly StoredPermission[],
): GrantNames {
  const direct = Object.freeze({ roles: namesOf(roles), permissions: namesOf(permissions) });
  const throughRoles = roles
    .filter(({ isLive }) => isLive)
    .map((role) => namesOf(role.permissions).map(({ name }) => name));
  const named = direct.permissions.map(({ name }) => name);
  return Object.freeze({
    direct,
    roles: Object.freeze(direct.roles.map(({ name }) => name)),
    permissions: Object.freeze(effectivePermissions(named, throughRoles)),
  });
}
