import { z } from "zod";
import { listOf, shared } from "./shared.js";

/** Response of permissions.getPermission, and a permission in a list. */
export const permission = shared(
  "Permission",
  z.strictObject({ id: z.string(), name: z.string(), description: z.string().optional() }),
);

/** Response of permissions.listPermissions: all of them, in the order of creation. */
export const permissionList = listOf(permission);

/** Response of permissions.createPermission. */
export const createdPermission = z.strictObject({ permissionId: z.string() });

/** Response of permissions.getRole, and a role in a list. */
export const role = shared(
  "Role",
  z.strictObject({
    id: z.string(),
    name: z.string(),
    description: z.string().optional(),
    permissions: listOf(z.string()),
  }),
);

/** Response of permissions.listRoles: all of them, in the order of creation. */
export const roleList = listOf(role);

/** Response of permissions.createRole. */
export const createdRole = z.strictObject({ roleId: z.string() });

/** Response of permissions.ensurePermissions: the names of the created permissions. */
export const ensuredPermissions = z.strictObject({ created: listOf(z.string()) });

/** Response of permissions.ensureRole. */
export const ensuredRole = createdRole.extend({ created: z.boolean() });

const held = shared("HeldGrant", z.strictObject({ id: z.string(), name: z.string() }));

/** Response of keys.addRoles, setRoles and removeRoles: the roles of the key afterwards, ascending by name. */
export const heldRoles = shared("HeldRoles", z.strictObject({ roles: listOf(held) }));

/** Response of keys.addPermissions, setPermissions and removePermissions: its direct permissions afterwards, ascending by name. */
export const heldPermissions = shared(
  "HeldPermissions",
  z.strictObject({ permissions: listOf(held) }),
);
