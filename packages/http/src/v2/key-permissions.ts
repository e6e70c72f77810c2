import { isRootAllowed } from "@latchkey/core";
import { z } from "zod";
import { KEY_ID, PERMISSION_ID, ROLE_ID } from "../operations/examples.js";
import type { Operation } from "../operations/operation.js";
import { listOf } from "../response-schemas/shared.js";
import { dataBody } from "./bodies.js";
import { changedKey, newKey } from "./fields.js";
import { defineV2 } from "./operation.js";
import { permission, role, toPermission } from "./views.js";

const { keyId } = changedKey;

const permissionChange = {
  input: z.strictObject({ keyId, permissions: newKey.permissions.unwrap() }),
  response: dataBody(listOf(permission)),
  example: {
    input: { keyId: KEY_ID, permissions: ["docs.read"] },
    response: { data: [{ id: PERMISSION_ID, name: "docs.read", slug: "docs.read" }] },
  },
};

const roleChange = {
  input: z.strictObject({ keyId, roles: newKey.roles.unwrap() }),
  response: dataBody(listOf(role)),
  example: {
    input: { keyId: KEY_ID, roles: ["reader"] },
    response: { data: [{ id: ROLE_ID, name: "reader" }] },
  },
};

const CREATED =
  "One that does not exist is created if the root key has `rbac.*.create_permission`, else the response is a 412 and " +
  "nothing is changed.";
const EXISTING =
  "If some do not exist, the response is a 412 that lists them, and nothing is changed.";
const WHOLE = "Replaces the whole set; an empty list clears it.";
const REMOVED = `One that the key does not have is ignored. ${EXISTING}`;

/** Permissions of a key as v1 accepts them: missing ones are created if the caller may do that. */
export function permissionItems(names: readonly string[], held: readonly string[]) {
  const create = isRootAllowed(held, { resource: "rbac", id: null, action: "create_permission" });
  return names.map((name) => ({ name, create }));
}

/** Gives a key permissions; missing ones are created if the caller may do that. */
const givePermissions = (operation: "addPermissions" | "setPermissions", description: string) =>
  defineV2(`keys.${operation}`, {
    ...permissionChange,
    description,
    run: async ({ carryOut, permissions: held }, { keyId: id, permissions }) => {
      const find = async () => ({ permissions: permissionItems(permissions, held) });
      const after = await carryOut({ keyId: id, permissions }, find);
      return { data: after.permissions.map(toPermission) };
    },
  });

const changeRoles = (operation: "addRoles" | "setRoles" | "removeRoles", description: string) =>
  defineV2(`keys.${operation}`, {
    ...roleChange,
    description,
    run: async ({ carryOut }, input) => ({ data: (await carryOut(input)).roles }),
  });

/** Operations on the direct permissions of a key, and on its roles. */
export const KEY_PERMISSIONS: readonly Operation[] = [
  givePermissions("addPermissions", CREATED),
  givePermissions("setPermissions", `${WHOLE} ${CREATED}`),
  defineV2("keys.removePermissions", {
    ...permissionChange,
    description: REMOVED,
    run: async ({ carryOut }, input) => {
      const { permissions } = await carryOut(input);
      return { data: permissions.map(toPermission) };
    },
  }),
  changeRoles("addRoles", EXISTING),
  changeRoles("setRoles", `${WHOLE} ${EXISTING}`),
  changeRoles("removeRoles", REMOVED),
];
