import {
  createPermissionInput,
  createRoleInput,
  deletePermissionInput,
  deleteRoleInput,
  getPermissionInput,
  getRoleInput,
  noInput,
  setRolePermissionsInput,
} from "@latchkey/core";
import { onRbac } from "../auth/required-permissions.js";
import {
  createdPermission,
  createdRole,
  permission,
  permissionList,
  role,
  roleList,
} from "../response-schemas/permissions.js";
import { nothing } from "../response-schemas/shared.js";
import { PERMISSION_ID, ROLE_ID } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

const PERMISSION = { id: PERMISSION_ID, name: "docs.read", description: "may read documents" };
const ROLE = { id: ROLE_ID, name: "reader", permissions: ["docs.read"] };

/** What keys may do, and the roles that bundle it. */
export const PERMISSIONS: readonly Operation[] = [
  defineOperation({
    name: "permissions.createPermission",
    method: "POST",
    summary: "Make a permission",
    description:
      "Names are unique in a workspace. Holding `docs.*` grants everything below `docs.`; `*` grants all.",
    input: createPermissionInput,
    answers: createdPermission,
    refusals: ["CONFLICT"],
    example: {
      takes: { name: "docs.read", description: "may read documents" },
      answers: { permissionId: PERMISSION_ID },
    },
    requiredPermissions: () => onRbac("create_permission"),
    run: ({ latchkey }, input) => latchkey.createPermission(input),
  }),
  defineOperation({
    name: "permissions.getPermission",
    method: "GET",
    summary: "Read a permission",
    input: getPermissionInput,
    answers: permission,
    refusals: ["NOT_FOUND"],
    example: { takes: { permissionId: PERMISSION_ID }, answers: PERMISSION },
    requiredPermissions: () => onRbac("read_permission"),
    run: ({ latchkey }, input) => latchkey.getPermission(input),
  }),
  defineOperation({
    name: "permissions.listPermissions",
    method: "GET",
    summary: "List the permissions",
    description: "All of them, as a bare list in the order of their creation.",
    input: noInput,
    answers: permissionList,
    refusals: [],
    example: { takes: {}, answers: [PERMISSION] },
    requiredPermissions: () => onRbac("read_permission"),
    run: ({ latchkey }) => latchkey.listPermissions(),
  }),
  defineOperation({
    name: "permissions.deletePermission",
    method: "POST",
    summary: "Delete a permission",
    description:
      "No key and no role has it any more, with the next verification; its name is free.",
    input: deletePermissionInput,
    answers: nothing,
    refusals: ["NOT_FOUND"],
    example: { takes: { permissionId: PERMISSION_ID }, answers: {} },
    requiredPermissions: () => onRbac("delete_permission"),
    run: ({ latchkey }, input) => latchkey.deletePermission(input),
  }),
  defineOperation({
    name: "permissions.createRole",
    method: "POST",
    summary: "Make a role",
    description:
      "`permissions` names those that every key with the role has; they have to exist, and giving any needs " +
      "`rbac.*.add_permission_to_role` too.",
    input: createRoleInput,
    answers: createdRole,
    refusals: ["CONFLICT", "PRECONDITION_FAILED"],
    example: {
      takes: { name: "reader", permissions: ["docs.read"] },
      answers: { roleId: ROLE_ID },
    },
    requiredPermissions: ({ permissions = [] }) =>
      permissions.length === 0
        ? onRbac("create_role")
        : onRbac("create_role", "add_permission_to_role"),
    run: ({ latchkey }, input) => latchkey.createRole(input),
  }),
  defineOperation({
    name: "permissions.getRole",
    method: "GET",
    summary: "Read a role",
    input: getRoleInput,
    answers: role,
    refusals: ["NOT_FOUND"],
    example: { takes: { roleId: ROLE_ID }, answers: ROLE },
    requiredPermissions: () => onRbac("read_role"),
    run: ({ latchkey }, input) => latchkey.getRole(input),
  }),
  defineOperation({
    name: "permissions.listRoles",
    method: "GET",
    summary: "List the roles",
    description:
      "All of them with their permissions, as a bare list in the order of their creation.",
    input: noInput,
    answers: roleList,
    refusals: [],
    example: { takes: {}, answers: [ROLE] },
    requiredPermissions: () => onRbac("read_role"),
    run: ({ latchkey }) => latchkey.listRoles(),
  }),
  defineOperation({
    name: "permissions.deleteRole",
    method: "POST",
    summary: "Delete a role",
    description: "No key has it any more, nor what came with it; the permissions themselves stay.",
    input: deleteRoleInput,
    answers: nothing,
    refusals: ["NOT_FOUND"],
    example: { takes: { roleId: ROLE_ID }, answers: {} },
    requiredPermissions: () => onRbac("delete_role"),
    run: ({ latchkey }, input) => latchkey.deleteRole(input),
  }),
  defineOperation({
    name: "permissions.setRolePermissions",
    method: "POST",
    summary: "Set the permissions of a role",
    description:
      "Replaces the whole set; every key that has the role sees it with its next verification.",
    input: setRolePermissionsInput,
    answers: nothing,
    refusals: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
    example: { takes: { roleId: ROLE_ID, permissions: ["docs.read"] }, answers: {} },
    requiredPermissions: () => onRbac("add_permission_to_role", "remove_permission_from_role"),
    run: ({ latchkey }, input) => latchkey.setRolePermissions(input),
  }),
];
