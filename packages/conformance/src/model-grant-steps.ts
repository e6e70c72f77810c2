import fc from "fast-check";
import * as any from "./model-arbitraries.js";
import { creationsIn, newPermission, newRole, permissionsIn } from "./model-grant-input.js";
import * as grants from "./model-grants.js";
import { inOrder } from "./model-page.js";
import { withEpoch, workspaceOf } from "./model-tenant-steps.js";
import { choose, kind, type World, workspaceAt } from "./model-world.js";

/** All permissions and roles of a workspace, in the order of a list. */
export function listedGrants({ model }: World, workspaceId: string) {
  const permissions = model.permissions.filter((known) => known.workspaceId === workspaceId);
  const roles = model.roles
    .filter(({ record }) => record.workspaceId === workspaceId)
    .map((role) => grants.loadRole(model, role));
  return {
    permissions: inOrder(permissions, ({ id }) => id),
    roles: inOrder(roles, ({ role }) => role.id),
  };
}

/** Steps on permissions and roles. */
export const grantKinds = [
  kind({
    title: "insertPermission",
    input: fc.record({ workspace: any.workspace, index: fc.nat({ max: 3 }) }),
    async run({ workspace, index }, world, store) {
      const permission = newPermission(world, index, workspace);
      const log = world.log(permission.workspaceId, "permission.created", permission.id);
      return {
        actual: await store.insertPermission(permission, log),
        expected: grants.insertPermission(world.model, permission, log),
      };
    },
  }),
  kind({
    title: "deletePermission",
    input: fc.record({ workspace: any.rarely(any.workspace), pick: any.pick }),
    async run({ workspace, pick }, world, store) {
      const chosen = choose(world.model.permissions, pick);
      const workspaceId = workspaceOf(chosen, workspace);
      const id = chosen?.id ?? "perm_unknown";
      const log = world.log(workspaceId, "permission.deleted", id);
      const answer = grants.deletePermission(world.model, workspaceId, id, log);
      const actual = await withEpoch(store, workspaceId, () =>
        store.deletePermission(workspaceId, id, log),
      );
      const expected = { answer, hasRisen: answer === "deleted" ? true : actual.hasRisen };
      return { actual, expected };
    },
  }),
  kind({
    title: "getPermission, listPermissions, getRole and listRoles",
    input: fc.record({ workspace: any.workspace, permission: any.pick, role: any.pick }),
    async run({ workspace, permission, role }, world, store) {
      const workspaceId = workspaceAt(workspace);
      const { model } = world;
      const listed = listedGrants(world, workspaceId);
      const permissionId = choose(model.permissions, permission)?.id ?? "perm_unknown";
      const roleId = choose(model.roles, role)?.record.id ?? "role_unknown";
      return {
        actual: [
          await store.getPermission(workspaceId, permissionId),
          await store.listPermissions(workspaceId),
          await store.getRole(workspaceId, roleId),
          await store.listRoles(workspaceId),
        ],
        expected: [
          listed.permissions.find(({ id }) => id === permissionId) ?? null,
          listed.permissions,
          listed.roles.find((known) => known.role.id === roleId) ?? null,
          listed.roles,
        ],
      };
    },
  }),
  kind({
    title: "insertRole",
    input: fc.record({
      workspace: any.workspace,
      index: fc.nat({ max: 3 }),
      references: any.permissionReferences,
    }),
    isClear({ workspace, index, references }, world) {
      const { workspaceId, name } = newRole(world, index, workspace);
      const permissions = permissionsIn(world, workspace, references);
      const isTaken = world.model.roles.some(
        ({ record }) => record.workspaceId === workspaceId && record.name === name,
      );
      return !isTaken || grants.missingGrants(world.model, workspaceId, { permissions }) === null;
    },
    async run({ workspace, index, references }, world, store) {
      const role = newRole(world, index, workspace);
      const permissions = permissionsIn(world, workspace, references);
      const log = [
        ...creationsIn(world, { permissions }),
        ...world.log(role.workspaceId, "role.created", role.id),
      ];
      return {
        actual: await store.insertRole(role, permissions, log),
        expected: grants.insertRole(world.model, role, permissions, log),
      };
    },
  }),
  kind({
    title: "setRolePermissions",
    input: fc.record({
      workspace: any.rarely(any.workspace),
      pick: any.pick,
      offset: any.versionOffset,
      references: any.permissionReferences,
    }),
    isClear({ workspace, pick, offset, references }, world) {
      const role = choose(world.model.roles, pick)?.record;
      const isRefused = role === undefined || workspace !== null || offset !== 0;
      const place = any.WORKSPACES.indexOf(workspaceOf(role, workspace));
      const permissions = permissionsIn(world, place, references);
      const { workspaceId } = newRole(world, 0, place);
      return !isRefused || grants.missingGrants(world.model, workspaceId, { permissions }) === null;
    },
    async run({ workspace, pick, offset, references }, world, store) {
      const role = choose(world.model.roles, pick)?.record;
      const workspaceId = workspaceOf(role, workspace);
      const place = any.WORKSPACES.indexOf(workspaceId);
      const permissions = permissionsIn(world, place, references);
      const { id = "role_unknown", version = 1 } = role ?? {};
      const log = [
        ...creationsIn(world, { permissions }),
        ...world.log(workspaceId, "role.updated", id),
      ];
      const given = [workspaceId, id, version + offset, permissions, log] as const;
      const answer = grants.setRolePermissions(world.model, ...given);
      const actual = await withEpoch(store, workspaceId, () => store.setRolePermissions(...given));
      const expected = { answer, hasRisen: answer.kind === "updated" ? true : actual.hasRisen };
      return { actual, expected };
    },
  }),
  kind({
    title: "deleteRole",
    input: fc.record({ workspace: any.rarely(any.workspace), pick: any.pick }),
    async run({ workspace, pick }, world, store) {
      const chosen = choose(world.model.roles, pick)?.record;
      const workspaceId = workspaceOf(chosen, workspace);
      const id = chosen?.id ?? "role_unknown";
      const log = world.log(workspaceId, "role.deleted", id);
      const answer = grants.deleteRole(world.model, workspaceId, id, log);
      const actual = await withEpoch(store, workspaceId, () =>
        store.deleteRole(workspaceId, id, log),
      );
      const expected = { answer, hasRisen: answer === "deleted" ? true : actual.hasRisen };
      return { actual, expected };
    },
  }),
];
