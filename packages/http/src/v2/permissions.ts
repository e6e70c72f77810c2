import {
  OPERATIONS as CORE_OPERATIONS,
  type Latchkey,
  LatchkeyError,
  type RoleView,
} from "@latchkey/core";
import { z } from "zod";
import { onRbac } from "../auth/required-permissions.js";
import { PERMISSION_ID, ROLE_ID } from "../operations/examples.js";
import type { Operation } from "../operations/operation.js";
import { listOf } from "../response-schemas/shared.js";
import { dataBody, pageBody, paginationOf } from "./bodies.js";
import { anyId, fieldsOf, page } from "./fields.js";
import { defineV2 } from "./operation.js";
import { empty, permission, role, toPermission } from "./views.js";

const newRole = fieldsOf(CORE_OPERATIONS.createRole.input);
const { name: slug, description } = fieldsOf(CORE_OPERATIONS.createPermission.input);

const PERMISSION = {
  id: PERMISSION_ID,
  name: "docs.read",
  slug: "docs.read",
  description: "may read documents",
};
const ROLE = { id: ROLE_ID, name: "reader", permissions: [PERMISSION] };

const onePermission = z.strictObject({
  permission: anyId.describe("Id or slug of the permission."),
});
const oneRole = z.strictObject({ role: anyId.describe("Id or name of the role.") });
const searchable = z.strictObject({
  ...page,
  search: anyId.optional().describe("Part of an id, a name or a description, in any case."),
});

/** Operations on permissions, and on roles that bundle them. */
export const PERMISSIONS: readonly Operation[] = [
  defineV2("permissions.createPermission", {
    description:
      "Slugs are unique in a workspace, and are what keys are verified for: holding `docs.*` grants everything below " +
      "`docs.`; `*` grants all. `name` is not kept.",
    input: z.strictObject({
      name: anyId.describe("Accepted, without effect: the slug is the name, too."),
      slug,
      description,
    }),
    response: dataBody(z.strictObject({ permissionId: z.string() })),
    example: {
      input: { name: "docs.read", slug: "docs.read", description: "may read documents" },
      response: { data: { permissionId: PERMISSION_ID } },
    },
    pathHere: (path) => path.replace(/^name$/, "slug"),
    run: async ({ carryOut }, input) => ({
      data: await carryOut({ name: input.slug, description: input.description }),
    }),
  }),
  defineV2("permissions.getPermission", {
    input: onePermission,
    response: dataBody(permission),
    example: { input: { permission: "docs.read" }, response: { data: PERMISSION } },
    run: async ({ carryOut, latchkey }, input) => {
      const found = await byIdOrName(input.permission, latchkey.listPermissions, (permissionId) =>
        carryOut({ permissionId }),
      );
      return { data: toPermission(found) };
    },
  }),
  defineV2("permissions.listPermissions", {
    description: "One page, in the order of creation.",
    input: searchable,
    response: pageBody(permission),
    example: {
      input: { search: "docs" },
      response: { data: [PERMISSION], pagination: { hasMore: false } },
    },
    run: async ({ latchkey }, input) => {
      const list = `permissions:${latchkey.workspaceId}:`;
      const { items, pagination } = pageOf(list, await latchkey.listPermissions(), input);
      return { data: items.map(toPermission), pagination };
    },
  }),
  defineV2("permissions.deletePermission", {
    description: "The next verification finds no key and no role that has it.",
    input: onePermission,
    response: dataBody(empty),
    example: { input: { permission: "docs.read" }, response: { data: {} } },
    run: async ({ carryOut, latchkey }, input) => {
      await carryOut({ permissionId: input.permission }, async () => ({
        permissionId: await permissionIdOf(latchkey, input.permission),
      }));
      return { data: {} };
    },
  }),
  defineV2("permissions.createRole", {
    description:
      "`permissions` lists the slugs of existing permissions, and needs `rbac.*.add_permission_to_role`, too.",
    input: z.strictObject(newRole),
    response: dataBody(z.strictObject({ roleId: z.string() })),
    example: {
      input: { name: "reader", permissions: ["docs.read"] },
      response: { data: { roleId: ROLE_ID } },
    },
  }),
  defineV2("permissions.getRole", {
    input: oneRole,
    response: dataBody(role),
    example: { input: { role: "reader" }, response: { data: ROLE } },
    run: async ({ carryOut, latchkey }, input) => {
      const found = await byIdOrName(input.role, latchkey.listRoles, (roleId) =>
        carryOut({ roleId }),
      );
      const [data] = await toRoles(latchkey, [found]);
      return { data: data as z.output<typeof role> };
    },
  }),
  defineV2("permissions.listRoles", {
    description: "One page with their permissions, in the order of creation.",
    input: searchable,
    response: pageBody(role),
    example: { input: {}, response: { data: [ROLE], pagination: { hasMore: false } } },
    run: async ({ latchkey }, input) => {
      const list = `roles:${latchkey.workspaceId}:`;
      const { items, pagination } = pageOf(list, await latchkey.listRoles(), input);
      return { data: await toRoles(latchkey, items), pagination };
    },
  }),
  defineV2("permissions.deleteRole", {
    description: "No key has it or its permissions any more. The permissions themselves stay.",
    input: oneRole,
    response: dataBody(empty),
    example: { input: { role: "reader" }, response: { data: {} } },
    run: async ({ carryOut, latchkey }, input) => {
      await carryOut({ roleId: input.role }, async () => ({
        roleId: await roleIdOf(latchkey, input.role),
      }));
      return { data: {} };
    },
  }),
  defineV2("permissions.setRolePermissions", {
    description:
      "Replaces the whole set by these existing permissions. The next verification of every key with the role sees it.",
    input: z.strictObject({
      roleId: anyId.describe("Id or name of the role."),
      permissions: newRole.permissions.unwrap(),
    }),
    response: dataBody(listOf(permission)),
    example: {
      input: { roleId: ROLE_ID, permissions: ["docs.read"] },
      response: { data: [PERMISSION] },
    },
    requiredPermissions: () => onRbac("add_permission_to_role", "remove_permission_from_role"),
    run: async ({ carryOut, latchkey }, { roleId: anyRole, permissions }) => {
      await carryOut({ roleId: anyRole, permissions }, async () => ({
        roleId: await roleIdOf(latchkey, anyRole),
      }));
      const wanted = new Set(permissions);
      const all = await latchkey.listPermissions();
      return { data: all.filter(({ name }) => wanted.has(name)).map(toPermission) };
    },
  }),
];

interface Named {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
}

/** Runs something with the id of a record: with the given text, or if there is no such id, with the id of the record of that name. */
async function byIdOrName<Result>(
  idOrName: string,
  list: () => Promise<readonly Named[]>,
  run: (id: string) => Promise<Result>,
): Promise<Result> {
  try {
    return await run(idOrName);
  } catch (error) {
    if (!(error instanceof LatchkeyError) || error.code !== "NOT_FOUND") throw error;
    const named = (await list()).find(({ name }) => name === idOrName);
    if (named === undefined) throw error;
    return run(named.id);
  }
}

function permissionIdOf({ getPermission, listPermissions }: Latchkey, idOrName: string) {
  return byIdOrName(idOrName, listPermissions, (permissionId) =>
    idOf(permissionId, () => getPermission({ permissionId })),
  );
}

function roleIdOf({ getRole, listRoles }: Latchkey, idOrName: string) {
  return byIdOrName(idOrName, listRoles, (roleId) => idOf(roleId, () => getRole({ roleId })));
}

/** The id, if the record exists. A damaged one does: it can be changed by its id. */
async function idOf(id: string, read: () => Promise<unknown>): Promise<string> {
  try {
    await read();
  } catch (error) {
    if (!(error instanceof LatchkeyError) || error.code !== "STORE_CORRUPT") throw error;
  }
  return id;
}

/** The last id in a cursor of a list, which follows the list's name. @throws LatchkeyError `BAD_REQUEST` for any other cursor. */
function afterCursor(list: string, cursor: string | undefined): string {
  if (cursor === undefined) return "";
  const lastId = cursor.startsWith(list) ? cursor.slice(list.length) : "";
  if (/^[a-z]+_[A-Za-z0-9]+$/.test(lastId)) return lastId;
  const message = "must be a cursor that this list returned";
  const issues = [{ path: "cursor", message }];
  throw new LatchkeyError("BAD_REQUEST", `"cursor" ${message}`, { issues });
}

/** A page of a list that v1 returns as a whole. Ids are in the order of creation, so the cursor contains the last one. */
function pageOf<Item extends Named>(
  list: string,
  all: readonly Item[],
  { limit = 100, cursor, search = "" }: z.input<typeof searchable>,
) {
  const after = afterCursor(list, cursor);
  const wanted = search.toLowerCase();
  const rest = all
    .filter(({ id, name, description: text = "" }) =>
      [id, name, text].some((part) => part.toLowerCase().includes(wanted)),
    )
    .filter(({ id }) => id > after)
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const items = rest.slice(0, limit);
  const last = rest.length > limit ? items.at(-1) : undefined;
  return { items, pagination: paginationOf({ cursor: last && `${list}${last.id}` }) };
}

async function toRoles(
  latchkey: Latchkey,
  roles: readonly RoleView[],
): Promise<z.output<typeof role>[]> {
  const known = new Map((await latchkey.listPermissions()).map((one) => [one.name, one]));
  return roles.map(({ permissions, ...rest }) => ({
    ...rest,
    permissions: permissions.flatMap((name) => {
      const one = known.get(name);
      return one === undefined ? [] : [toPermission(one)];
    }),
  }));
}
