import fc from "fast-check";
import { anApi, aRootKey } from "./fixtures.js";
import * as any from "./model-arbitraries.js";
import { candidate, choose, kind, workspaceAt } from "./model-world.js";

/** Steps on what keys hang on: workspaces, APIs, root keys, permissions and roles. */
export const tenantKinds = [
  kind({
    title: "setWorkspaceEnabled",
    input: fc.record({ workspace: any.workspace, enabled: fc.boolean() }),
    async run({ workspace, enabled }, { model }, store) {
      const id = workspaceAt(workspace);
      const before = await store.getWorkspace(id);
      await store.setWorkspaceEnabled(id, enabled);
      if (enabled) model.disabledWorkspaces.delete(id);
      else model.disabledWorkspaces.add(id);
      const after = await store.getWorkspace(id);
      return {
        actual: { ...after, hasRisen: after.epoch > before.epoch },
        expected: { ...model.workspace(id), hasRisen: true },
      };
    },
  }),
  kind({
    title: "insertApi",
    input: fc.record({ workspace: any.workspace }),
    async run({ workspace }, world, store) {
      const api = anApi(world.count(), { workspaceId: workspaceAt(workspace) });
      await store.insertApi(api);
      world.model.apis.push(api);
      return { actual: await store.getApi(api.workspaceId, api.id), expected: api };
    },
  }),
  kind({
    title: "deleteApi",
    // Seldom: without an API most steps meet nothing.
    input: fc.record({ workspace: any.workspace, pick: any.pick, isMeant: fc.nat({ max: 3 }) }),
    async run({ workspace, pick, isMeant }, { model }, store) {
      const workspaceId = workspaceAt(workspace);
      const apiId = (isMeant === 0 ? choose(model.apis, pick)?.id : undefined) ?? "api_unknown";
      return {
        actual: await store.deleteApi(workspaceId, apiId),
        expected: model.deleteApi(workspaceId, apiId),
      };
    },
  }),
  kind({
    title: "deleteKeys",
    input: fc.record({ pick: any.pick, limit: fc.integer({ min: 1, max: 3 }) }),
    async run({ pick, limit }, world, store) {
      const key = choose(world.everyKey, pick);
      const { workspaceId, apiId } = key ?? { workspaceId: workspaceAt(0), apiId: "api_unknown" };
      return {
        actual: await store.deleteKeys(workspaceId, apiId, limit, world.now),
        expected: world.model.deleteKeys(workspaceId, apiId, limit),
      };
    },
  }),
  kind({
    title: "insertRootKey",
    input: fc.record({ workspace: any.workspace, pick: any.pick }),
    async run({ workspace, pick }, world, store) {
      const { rootKeys } = world.model;
      const added = aRootKey(world.count(), { workspaceId: workspaceAt(workspace) });
      await store.insertRootKey(added);
      rootKeys.push(added);
      const rootKey = choose(rootKeys, pick);
      const expected = rootKey
        ? { rootKey, workspace: world.model.workspace(rootKey.workspaceId) }
        : null;
      return { actual: await store.findRootKey(rootKey?.hash ?? "unknown"), expected };
    },
  }),
  kind({
    title: "insertPermission",
    input: fc.record({ workspace: any.workspace, index: fc.nat({ max: 3 }) }),
    async run({ workspace, index }, { model }, store) {
      const permission = any.permissionAt(index, workspace);
      return {
        actual: await store.insertPermission(permission),
        expected: model.insertPermission(permission),
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
    isClear({ workspace, index, references }, { model }) {
      const role = any.roleAt(index, workspace);
      const permissions = any.referencesIn(references, (at) => any.permissionAt(at, workspace));
      const isTaken = model.roles.some(({ id }) => id === role.id);
      return !isTaken || model.missing(role.workspaceId, { permissions }) === null;
    },
    async run({ workspace, index, references }, { model }, store) {
      const role = any.roleAt(index, workspace);
      const permissions = any.referencesIn(references, (at) => any.permissionAt(at, workspace));
      return {
        actual: await store.insertRole(role, permissions),
        expected: model.insertRole(role, permissions),
      };
    },
  }),
];

/** Steps on identities. */
export const identityKinds = [
  kind({
    title: "insertIdentity",
    input: fc.record({
      workspace: any.workspace,
      externalId: any.externalId,
      meta: any.metadata,
      ratelimits: any.limits,
    }),
    async run({ workspace, externalId, meta, ratelimits }, world, store) {
      const identity = { ...candidate(world, workspace, externalId), meta, ratelimits };
      return {
        actual: await store.insertIdentity(identity),
        expected: world.model.insertIdentity(identity),
      };
    },
  }),
  kind({
    title: "updateIdentity",
    input: fc.record({
      workspace: any.workspace,
      pick: any.pick,
      offset: any.versionOffset,
      patch: any.identityPatch,
    }),
    async run({ workspace, pick, offset, patch }, { model }, store) {
      const identity = choose(model.identities, pick);
      const workspaceId = workspaceAt(workspace);
      const id = identity?.id ?? "id_unknown";
      const version = (identity?.version ?? 1) + offset;
      return {
        actual: await store.updateIdentity(workspaceId, id, version, patch),
        expected: model.updateIdentity(workspaceId, id, version, patch),
      };
    },
  }),
  kind({
    title: "getIdentity",
    input: fc.record({ workspace: any.workspace, externalId: any.externalId }),
    async run({ workspace, externalId }, { model }, store) {
      const workspaceId = workspaceAt(workspace);
      const found = model.identities.find(
        (identity) => identity.workspaceId === workspaceId && identity.externalId === externalId,
      );
      return {
        actual: await store.getIdentity(workspaceId, { externalId }),
        expected: found ?? null,
      };
    },
  }),
];
