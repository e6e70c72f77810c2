import { onRbac } from "../auth/required-permissions.js";
import {
  createdPermission,
  createdRole,
  ensuredPermissions,
  ensuredRole,
  permission,
  permissionList,
  role,
  roleList,
} from "../response-schemas/permissions.js";
import { empty } from "../response-schemas/shared.js";
import { PERMISSION_ID, ROLE_ID } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

const PERMISSION = { id: PERMISSION_ID, name: "docs.read", description: "may read documents" };
const ROLE = { id: ROLE_ID, name: "reader", permissions: ["docs.read"] };

/** Operations on permissions, and on roles that bundle them. */
export const PERMISSIONS: readonly Operation[] = [
  defineOperation("permissions.createPermission", {
    summary: "Create a permission",
    description:
      "Names are unique in a workspace. Holding `docs.*` grants everything below `docs.`; `*` grants all.",
    response: createdPermission,
    errors: ["CONFLICT"],
    example: {
      input: { name: "docs.read", description: "may read documents" },
      response: { permissionId: PERMISSION_ID },
    },
    requiredPermissions: () => onRbac("create_permission"),
  }),
  defineOperation("permissions.ensurePermissions", {
    summary: "Create missing permissions",
    description:
      "The body is an array of at most 1,000 names. Those that do not exist are created, all in one write.",
    acceptsList: true,
    response: ensuredPermissions,
    example: { input: ["docs.read", "docs.write"], response: { created: ["docs.write"] } },
    requiredPermissions: () => onRbac("create_permission", "read_permission"),
  }),
  defineOperation("permissions.getPermission", {
    method: "GET",
    summary: "Read a permission",
    response: permission,
    errors: ["NOT_FOUND"],
    example: { input: { permissionId: PERMISSION_ID }, response: PERMISSION },
    requiredPermissions: () => onRbac("read_permission"),
  }),
  defineOperation("permissions.listPermissions", {
    method: "GET",
    summary: "List the permissions",
    description: "All of them, as a bare array in the order of creation.",
    response: permissionList,
    example: { input: {}, response: [PERMISSION] },
    requiredPermissions: () => onRbac("read_permission"),
  }),
  defineOperation("permissions.deletePermission", {
    summary: "Delete a permission",
    description:
      "The next verification finds no key and no role that has it. Its name can be used again.",
    response: empty,
    errors: ["NOT_FOUND"],
    example: { input: { permissionId: PERMISSION_ID }, response: {} },
    requiredPermissions: () => onRbac("delete_permission"),
  }),
  defineOperation("permissions.createRole", {
    summary: "Create a role",
    description:
      "`permissions` lists the permissions of every key with the role. They must exist, and need " +
      "`rbac.*.add_permission_to_role`, too.",
    response: createdRole,
    errors: ["CONFLICT", "PRECONDITION_FAILED"],
    example: {
      input: { name: "reader", permissions: ["docs.read"] },
      response: { roleId: ROLE_ID },
    },
    requiredPermissions: ({ permissions = [] }) =>
      permissions.length === 0
        ? onRbac("create_role")
        : onRbac("create_role", "add_permission_to_role"),
  }),
  defineOperation("permissions.ensureRole", {
    summary: "Create a role or replace its permissions",
    description:
      "`permissions` lists all permissions of every key with the role, from now on. The role and permissions that do not " +
      "exist are created, all in one write.",
    response: ensuredRole,
    example: {
      input: { name: "reader", permissions: ["docs.read"] },
      response: { roleId: ROLE_ID, created: true },
    },
    requiredPermissions: () =>
      onRbac(
        "create_role",
        "read_role",
        "create_permission",
        "add_permission_to_role",
        "remove_permission_from_role",
      ),
  }),
  defineOperation("permissions.getRole", {
    method: "GET",
    summary: "Read a role",
    response: role,
    errors: ["NOT_FOUND"],
    example: { input: { roleId: ROLE_ID }, response: ROLE },
    requiredPermissions: () => onRbac("read_role"),
  }),
  defineOperation("permissions.listRoles", {
    method: "GET",
    summary: "List the roles",
    description: "All of them with their permissions, as a bare array in the order of creation.",
    response: roleList,
    example: { input: {}, response: [ROLE] },
    requiredPermissions: () => onRbac("read_role"),
  }),
  defineOperation("permissions.deleteRole", {
    summary: "Delete a role",
    description: "No key has it or its permissions any more. The permissions themselves stay.",
    response: empty,
    errors: ["NOT_FOUND"],
    example: { input: { roleId: ROLE_ID }, response: {} },
    requiredPermissions: () => onRbac("delete_role"),
  }),
  defineOperation("permissions.setRolePermissions", {
    summary: "Set the permissions of a role",
    description:
      "Replaces the whole set. The next verification of every key with the role sees the change.",
    response: empty,
    errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
    example: { input: { roleId: ROLE_ID, permissions: ["docs.read"] }, response: {} },
    requiredPermissions: () => onRbac("add_permission_to_role", "remove_permission_from_role"),
  }),
];
