import { ifCreating, onRbac } from "../auth/required-permissions.js";
import { heldPermissions, heldRoles } from "../response-schemas/permissions.js";
import { KEY_ID, PERMISSION_ID, ROLE_ID } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

const ITEMS =
  "An item is a name, or an object with `id` or `name`. If some do not exist, the response is a 412 that lists them, and " +
  "nothing is changed.";
const ROLE_ITEMS = `${ITEMS} \`create: true\` creates a missing one, and needs \`rbac.*.create_role\`, too.`;
const PERMISSION_ITEMS = `${ITEMS} \`create: true\` creates a missing one, and needs \`rbac.*.create_permission\`, too.`;

const ERRORS = ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"] as const;
const REMOVED_ITEMS = `One that the key does not have is ignored. ${ITEMS} \`create\` has no effect here.`;

const ROLES = { roles: [{ id: ROLE_ID, name: "reader" }] };
const PERMISSIONS = { permissions: [{ id: PERMISSION_ID, name: "docs.read" }] };

/** Operations on the roles of a key, and on its direct permissions. */
export const KEY_PERMISSIONS: readonly Operation[] = [
  defineOperation("keys.addRoles", {
    summary: "Add roles to a key",
    description: ROLE_ITEMS,
    response: heldRoles,
    errors: ERRORS,
    example: { input: { keyId: KEY_ID, roles: [{ name: "reader" }] }, response: ROLES },
    requiredPermissions: ({ roles }) =>
      onRbac("add_role_to_key", ...ifCreating(roles, "create_role")),
  }),
  defineOperation("keys.setRoles", {
    summary: "Set the roles of a key",
    description: `Replaces the whole set; an empty list clears it. ${ROLE_ITEMS}`,
    response: heldRoles,
    errors: ERRORS,
    example: { input: { keyId: KEY_ID, roles: [{ name: "reader" }] }, response: ROLES },
    requiredPermissions: ({ roles }) =>
      onRbac("add_role_to_key", "remove_role_from_key", ...ifCreating(roles, "create_role")),
  }),
  defineOperation("keys.removeRoles", {
    summary: "Remove roles from a key",
    description: REMOVED_ITEMS,
    response: heldRoles,
    errors: ERRORS,
    example: { input: { keyId: KEY_ID, roles: [{ name: "writer" }] }, response: ROLES },
    requiredPermissions: () => onRbac("remove_role_from_key"),
  }),
  defineOperation("keys.addPermissions", {
    summary: "Add permissions to a key",
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
  defineOperation("keys.setPermissions", {
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
  defineOperation("keys.removePermissions", {
    summary: "Remove permissions from a key",
    description: REMOVED_ITEMS,
    response: heldPermissions,
    errors: ERRORS,
    example: {
      input: { keyId: KEY_ID, permissions: [{ name: "docs.write" }] },
      response: PERMISSIONS,
    },
    requiredPermissions: () => onRbac("remove_permission_from_key"),
  }),
];
