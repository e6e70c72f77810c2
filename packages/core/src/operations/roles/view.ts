import type { Facts } from "../../audit/diff.js";
import type { LoadedRole, PermissionRecord } from "../../records/role.js";

/** A permission as it is shown. Fields without a value are absent. */
export interface ListedPermission {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
}

/** A role as it is shown. Fields without a value are absent. */
export interface ListedRole {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  /** Names of the permissions that every key with the role has, ascending. */
  readonly permissions: readonly string[];
}

/** Writes a permission as it is shown. */
export function toListedPermission({ id, name, description }: PermissionRecord): ListedPermission {
  return { id, name, ...(description !== null && { description }) };
}

/** Writes a role as it is shown. */
export function toListedRole({ role, permissions }: LoadedRole): ListedRole {
  const { id, name, description } = role;
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
export function roleFacts(
  { name, description }: { readonly name: string; readonly description: string | null },
  permissions: readonly string[],
): Facts {
  const names = [...new Set(permissions)].sort();
  return { name, description, permissions: names.length === 0 ? null : names };
}
