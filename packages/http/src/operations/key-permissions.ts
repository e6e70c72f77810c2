import {
  addPermissionsInput,
  addRolesInput,
  removePermissionsInput,
  removeRolesInput,
  setPermissionsInput,
  setRolesInput,
} from "@latchkey/core";
import { ifCreating, onRbac } from "../auth/required-permissions.js";
import { heldPermissions, heldRoles } from "../response-schemas/permissions.js";
import { KEY_ID, PERMISSION_ID, ROLE_ID } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

const ITEMS =
  "An item is a name, or names one by `id` or `name`; what does not exist is a 412 that lists it all, and " +
  "nothing is changed then.";
const ROLE_ITEMS = `${ITEMS} With \`create: true\` a missing one is made, and \`rbac.*.create_role\` is needed too.`;
const PERMISSION_ITEMS = `${ITEMS} With \`create: true\` a missing one is made, and \`rbac.*.create_permission\` is needed too.`;

const REFUSALS = ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"] as const;
const NOT_HELD = `One that the key does not hold is passed over. ${ITEMS} \`create\` makes nothing here.`;

const ROLES = { roles: [{ id: ROLE_ID, name: "reader" }] };
const PERMISSIONS = { permissions: [{ id: PERMISSION_ID, name: "docs.read" }] };

/** What a key holds itself of roles and permissions. */
export const KEY_PERMISSIONS: readonly Operation[] = [
  defineOperation({
    name: "keys.addRoles",
    method: "POST",
    summary: "Give a key further roles",
    description: ROLE_ITEMS,
    input: addRolesInput,
    answers: heldRoles,
    refusals: REFUSALS,
    example: { takes: { keyId: KEY_ID, roles: [{ name: "reader" }] }, answers: ROLES },
    requiredPermissions: ({ roles }) =>
      onRbac("add_role_to_key", ...ifCreating(roles, "create_role")),
    run: ({ latchkey }, input) => latchkey.addRoles(input),
  }),
  defineOperation({
    name: "keys.setRoles",
    method: "POST",
    summary: "Set the roles of a key",
    description: `Replaces the whole set; an empty list clears it. ${ROLE_ITEMS}`,
    input: setRolesInput,
    answers: heldRoles,
    refusals: REFUSALS,
    example: { takes: { keyId: KEY_ID, roles: [{ name: "reader" }] }, answers: ROLES },
    requiredPermissions: ({ roles }) =>
      onRbac("add_role_to_key", "remove_role_from_key", ...ifCreating(roles, "create_role")),
    run: ({ latchkey }, input) => latchkey.setRoles(input),
  }),
  defineOperation({
    name: "keys.removeRoles",
    method: "POST",
    summary: "Take roles from a key",
    description: NOT_HELD,
    input: removeRolesInput,
    answers: heldRoles,
    refusals: REFUSALS,
    example: { takes: { keyId: KEY_ID, roles: [{ name: "writer" }] }, answers: ROLES },
    requiredPermissions: () => onRbac("remove_role_from_key"),
    run: ({ latchkey }, input) => latchkey.removeRoles(input),
  }),
  defineOperation({
    name: "keys.addPermissions",
    method: "POST",
    summary: "Give a key further permissions",
    description: PERMISSION_ITEMS,
    input: addPermissionsInput,
    answers: heldPermissions,
    refusals: REFUSALS,
    example: {
      takes: { keyId: KEY_ID, permissions: [{ name: "docs.read" }] },
      answers: PERMISSIONS,
    },
    requiredPermissions: ({ permissions }) =>
      onRbac("add_permission_to_key", ...ifCreating(permissions, "create_permission")),
    run: ({ latchkey }, input) => latchkey.addPermissions(input),
  }),
  defineOperation({
    name: "keys.setPermissions",
    method: "POST",
    summary: "Set the permissions of a key",
    description: `Replaces the whole set; an empty list clears it. ${PERMISSION_ITEMS}`,
    input: setPermissionsInput,
    answers: heldPermissions,
    refusals: REFUSALS,
    example: {
      takes: { keyId: KEY_ID, permissions: [{ name: "docs.read" }] },
      answers: PERMISSIONS,
    },
    requiredPermissions: ({ permissions }) =>
      onRbac(
        "add_permission_to_key",
        "remove_permission_from_key",
        ...ifCreating(permissions, "create_permission"),
      ),
    run: ({ latchkey }, input) => latchkey.setPermissions(input),
  }),
  defineOperation({
    name: "keys.removePermissions",
    method: "POST",
    summary: "Take permissions from a key",
    description: NOT_HELD,
    input: removePermissionsInput,
    answers: heldPermissions,
    refusals: REFUSALS,
    example: {
      takes: { keyId: KEY_ID, permissions: [{ name: "docs.write" }] },
      answers: PERMISSIONS,
    },
    requiredPermissions: () => onRbac("remove_permission_from_key"),
    run: ({ latchkey }, input) => latchkey.removePermissions(input),
  }),
];
