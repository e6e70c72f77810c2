import { ifCreating, onRbac } from "../auth/required-permissions.js";
import { heldPermissions, heldRoles } from "../response-schemas/permissions.js";
import { KEY_ID, PERMISSION_ID, ROLE_ID } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

const ITEMS =
  "An item is a name, or names one by `id` or `name`; what does not exist is a 412 that lists it all, and " +
  "nothing is changed then.";
const ROLE_ITEMS = `${ITEMS} With \`create: true\` a missing one is made, and \`rbac.*.create_role\` is needed too.`;
const PERMISSION_ITEMS = `${ITEMS} With \`create: true\` a missing one is made, and \`rbac.*.create_permission\` is needed too.`;

const ERRORS = ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"] as const;
const NOT_HELD = `One that the key does not hold is passed over. ${ITEMS} \`create\` makes nothing here.`;

const ROLES = { roles: [{ id: ROLE_ID, name: "reader" }] };
const PERMISSIONS = { permissions: [{ id: PERMISSION_ID, name: "docs.read" }] };

/** What a key holds itself of roles and permissions. */
export const KEY_PERMISSIONS: readonly Operation[] = [
  defineOperation({
    name: "keys.addRoles",
    operation: "addRoles",
    method: "POST",
    summary: "Give a key further roles",
    description: ROLE_ITEMS,
    response: heldRoles,
    errors: ERRORS,
    example: { input: { keyId: KEY_ID, roles: [{ name: "reader" }] }, response: ROLES },
    requiredPermissions: ({ roles }) =>
      onRbac("add_role_to_key", ...ifCreating(roles, "create_role")),
  }),
  defineOperation({
    name: "keys.setRoles",
    operation: "setRoles",
    method: "POST",
    summary: "Set the roles of a key",
    description: `Replaces the whole set; an empty list clears it. ${ROLE_ITEMS}`,
    response: heldRoles,
    errors: ERRORS,
    example: { input: { keyId: KEY_ID, roles: [{ name: "reader" }] }, response: ROLES },
    requiredPermissions: ({ roles }) =>
      onRbac("add_role_to_key", "remove_role_from_key", ...ifCreating(roles, "create_role")),
  }),
  defineOperation({
    name: "keys.removeRoles",
    operation: "removeRoles",
    method: "POST",
    summary: "Take roles from a key",
    description: NOT_HELD,
    response: heldRoles,
    errors: ERRORS,
    example: { input: { keyId: KEY_ID, roles: [{ name: "writer" }] }, response: ROLES },
    requiredPermissions: () => onRbac("remove_role_from_key"),
  }),
  defineOperation({
    name: "keys.addPermissions",
    operation: "addPermissions",
    method: "POST",
    summary: "Give a key further permissions",
    description: PERMISSION_ITEMS,
    response: heldPermissions,
    errors: ERRORS,
    example: {
      input: { keyId: KEY_ID, permissions: [{ name: "docs.read" }] },
      response: PERMISSIONS,
    },
    requiredPermissions: ({ permissions }) =>
      onRbac("add_permission_to_key", ...ifCreating(permissions, "create_permission")),
  }),
  defineOperation({
    name: "keys.setPermissions",
    operation: "setPermissions",
    method: "POST",
    summary: "Set the permissions of a key",
    description: `Replaces the whole set; an empty list clears it. ${PERMISSION_ITEMS}`,
    response: heldPermissions,
    errors: ERRORS,
    example: {
      input: { keyId: KEY_ID, permissions: [{ name: "docs.read" }] },
      response: PERMISSIONS,
    },
    requiredPermissions: ({ permissions }) =>
      onRbac(
        "add_permission_to_key",
        "remove_permission_from_key",
        ...ifCreating(permissions, "create_permission"),
      ),
  }),
  defineOperation({
    name: "keys.removePermissions",
    operation: "removePermissions",
    method: "POST",
    summary: "Take permissions from a key",
    description: NOT_HELD,
    response: heldPermissions,
    errors: ERRORS,
    example: {
      input: { keyId: KEY_ID, permissions: [{ name: "docs.write" }] },
      response: PERMISSIONS,
    },
    requiredPermissions: () => onRbac("remove_permission_from_key"),
  }),
];
