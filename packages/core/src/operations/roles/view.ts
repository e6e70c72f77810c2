import type { AuditFields } from "../../audit/diff.js";
import type { PermissionRecord } from "../../records/permission.js";
import type { RoleRecord } from "../../records/role.js";
import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../rules/latchkey-types.js";
import type { NamedGrant } from "../../verification/loaded-key.js";

/** A permission as it is shown. Fields without a value are absent. */
export interface PermissionView<Types extends LatchkeyTypes = DefaultTypes> {
  /** `perm_…` */
  readonly id: string;
  /** Its name, unique in the workspace. */
  readonly name: PermissionName<Types>;
  /** For people. */
  readonly description?: string;
}

/** A role as it is shown. Fields without a value are absent. */
export interface RoleView<Types extends LatchkeyTypes = DefaultTypes> {
  /** `role_…` */
  readonly id: string;
  /** Its name, unique in the workspace. */
  readonly name: string;
  /** For people. */
  readonly description?: string;
  /** Names of the permissions that every key with the role has, ascending. */
  readonly permissions: readonly PermissionName<Types>[];
}

/** A permission as it is shown. */
export function toPermissionView({ id, name, description }: PermissionRecord): PermissionView {
  return { id, name, ...(description !== null && { description }) };
}

/** A role as it is shown. */
export function toRoleView(
  { id, name, description }: RoleRecord,
  permissions: readonly NamedGrant[],
): RoleView {
  return {
    id,
    name,
    ...(description !== null && { description }),
    permissions: permissions.map((permission) => permission.name),
  };
}

/**
 * The settings of a role in the words of the HTTP contract, for the audit log.
 *
 * @param permissions - Names, in any order; one that is given twice counts once.
 */
export function roleFields(
  { name, description }: { readonly name: string; readonly description: string | null },
  permissions: readonly string[],
): AuditFields {
  const names = [...new Set(permissions)].sort();
  return { name, description, permissions: names.length === 0 ? null : names };
}
