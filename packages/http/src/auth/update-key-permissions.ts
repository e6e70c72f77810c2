import type { updateKeyInput } from "@latchkey/core";
import type { RequiredPermissions } from "../operations/operation.js";
import { andRbac, ifCreating, onApiOfKey } from "./required-permissions.js";

type UpdateKey = (typeof updateKeyInput)["_zod"]["output"];

/**
 * What updateKey needs. Its lists of roles and permissions replace the whole set, as setRoles and setPermissions do,
 * so they need the same: to add and to remove, and to create where an item may be made on the way. With
 * update_key alone the grants of an existing key stay as they are.
 *
 * That is no bound on what can be granted at all: createKey gives a new key any role and permission that exists, and
 * create_key is enough for it.
 */
export function updateKeyPermissions({
  keyId,
  roles,
  permissions,
}: UpdateKey): RequiredPermissions {
  return andRbac(onApiOfKey(keyId, "update_key"), [
    ...(roles === undefined ? [] : (["add_role_to_key", "remove_role_from_key"] as const)),
    ...ifCreating(roles, "create_role"),
    ...(permissions === undefined
      ? []
      : (["add_permission_to_key", "remove_permission_from_key"] as const)),
    ...ifCreating(permissions, "create_permission"),
  ]);
}
