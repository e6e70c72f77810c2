import type { InputOf } from "@latchkey/core";
import { andRbac, ifCreating, onKeys, type RequiredPermissions } from "./required-permissions.js";

/**
 * The permissions that updateKey requires. Its `roles` and `permissions` replace the whole set, as setRoles and
 * setPermissions do, so they require the same: to add, to remove, and to create if an item has `create: true`. With
 * update_key alone the roles and permissions of an existing key stay as they are.
 *
 * This does not limit which roles and permissions can be given at all: createKey gives a new key any that exist, and
 * requires create_key alone.
 */
export function updateKeyPermissions({
  keyId,
  ...update
}: InputOf<"updateKey">): RequiredPermissions {
  return updateKeysPermissions({ keyIds: [keyId], ...update });
}

/** The permissions that updateKeys requires: those of updateKey for each of the keys. */
export function updateKeysPermissions({
  keyIds,
  roles,
  permissions,
}: InputOf<"updateKeys">): RequiredPermissions {
  return andRbac(onKeys({ keyIds }, "update_key"), [
    ...(roles === undefined ? [] : (["add_role_to_key", "remove_role_from_key"] as const)),
    ...ifCreating(roles, "create_role"),
    ...(permissions === undefined
      ? []
      : (["add_permission_to_key", "remove_permission_from_key"] as const)),
    ...ifCreating(permissions, "create_permission"),
  ]);
}
