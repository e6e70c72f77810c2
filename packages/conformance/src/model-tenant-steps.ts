import type { ApiRecord, KeyStore } from "@latchkey/core";
import fc from "fast-check";
import { anApi, aRootKey, idOf } from "./fixtures.js";
import * as any from "./model-arbitraries.js";
import { pageOf } from "./model-page.js";
import * as tenants from "./model-tenants.js";
import { choose, kind, type World, workspaceAt } from "./model-world.js";

/** An answer, and whether the epoch rose meanwhile. */
export async function withEpoch<Answer>(
  store: KeyStore,
  workspaceId: string,
  call: () => Promise<Answer>,
) {
  const before = await store.getWorkspace(workspaceId);
  const answer = await call();
  const after = await store.getWorkspace(workspaceId);
  return { answer, hasRisen: after.epoch > before.epoch };
}

/** After one of these items, or after an id that nobody has. */
export function pageAfter(
  items: readonly { readonly id: string }[],
  { after, limit }: { readonly after: number | null; readonly limit: number },
) {
  const afterId = after === null ? null : (choose(items, after)?.id ?? idOf("x", 5_000));
  return { afterId, limit };
}

/** Mostly the workspace of the item, sometimes the other one. */
export function workspaceOf(
  item: { readonly workspaceId: string } | undefined,
  workspace: number | null,
): string {
  return workspace === null && item ? item.workspaceId : workspaceAt(workspace ?? 0);
}

function rootKeysOf({ model }: World, workspaceId: string) {
  return model.rootKeys.filter((rootKey) => rootKey.workspaceId === workspaceId);
}

/** Steps on workspaces, APIs and root keys. */
export const tenantKinds = [
  kind({
    title: "insertWorkspace",
    input: fc.record({ workspace: any.workspace, enabled: fc.boolean() }),
    async run({ workspace, enabled }, world, store) {
      const id = workspaceAt(workspace);
      const record = { id, name: `tenant ${workspace}`, enabled, epoch: 0 };
      const log = world.log(id, "workspace.created", id);
      const { epoch } = await store.getWorkspace(id);
      const answer = await store.insertWorkspace(record, log);
      const hasFallen = (await store.getWorkspace(id)).epoch < epoch;
      return {
        actual: { answer, hasFallen },
        expected: {
          answer: tenants.insertWorkspace(world.model, record, log),
          hasFallen: false,
        },
      };
    },
  }),
  kind({
    title: "setWorkspaceEnabled",
    input: fc.record({ workspace: any.workspace, enabled: fc.boolean() }),
    async run({ workspace, enabled }, world, store) {
      const { model } = world;
      const id = workspaceAt(workspace);
      const isChange = model.workspace(id).enabled !== enabled;
      const log = isChange ? world.log(id, "workspace.enabled", id) : [];
      const { hasRisen } = await withEpoch(store, id, () =>
        store.setWorkspaceEnabled(id, enabled, log),
      );
      tenants.setWorkspaceEnabled(model, id, enabled, log);
      return {
        actual: { ...(await store.getWorkspace(id)), hasRisen },
        expected: { ...model.workspace(id), hasRisen: true },
      };
    },
  }),
  kind({
    title: "insertApi",
    input: fc.record({ workspace: any.workspace, fields: any.apiPatch }),
    async run({ workspace, fields }, world, store) {
      const workspaceId = workspaceAt(workspace);
      const api = { ...anApi(world.count(), { workspaceId }), ...fields } as ApiRecord;
      const log = world.log(api.workspaceId, "api.created", api.id);
      await store.insertApi(api, log);
      tenants.insertApi(world.model, api, log);
      return { actual: await store.getApi(api.workspaceId, api.id), expected: api };
    },
  }),
  kind({
    title: "updateApi",
    input: fc.record({
      workspace: any.rarely(any.workspace),
      pick: any.pick,
      offset: any.versionOffset,
      patch: any.apiPatch,
    }),
    async run({ workspace, pick, offset, patch }, world, store) {
      const api = choose(world.model.apis, pick);
      const workspaceId = workspaceOf(api, workspace);
      const { id = "api_unknown", version = 1 } = api ?? {};
      const log = world.log(workspaceId, "api.updated", id);
      const given = [workspaceId, id, version + offset, patch, log] as const;
      const answer = tenants.updateApi(world.model, ...given);
      const actual = await withEpoch(store, workspaceId, () => store.updateApi(...given));
      const expected = { answer, hasRisen: answer === "updated" ? true : actual.hasRisen };
      return { actual, expected };
    },
  }),
  kind({
    title: "listApis",
    input: fc.record({ workspace: any.workspace, page: any.page }),
    async run({ workspace, page }, { model }, store) {
      const workspaceId = workspaceAt(workspace);
      const apis = model.apis.filter((api) => api.workspaceId === workspaceId);
      const asked = pageAfter(apis, page);
      return {
        actual: await store.listApis(workspaceId, asked),
        expected: pageOf(apis, ({ id }) => id, asked),
      };
    },
  }),
  kind({
    title: "deleteApi",
    // Seldom one that is not protected: without an API most steps meet nothing.
    input: fc.record({ workspace: any.workspace, pick: any.pick, isMeant: fc.nat({ max: 3 }) }),
    async run({ workspace, pick, isMeant }, world, store) {
      const workspaceId = workspaceAt(workspace);
      const { apis } = world.model;
      const likely = isMeant === 0 ? apis : apis.filter((api) => api.deleteProtection);
      const chosen = choose(likely, pick);
      const apiId = chosen?.id ?? "api_unknown";
      const log = world.log(workspaceId, "api.deleted", apiId);
      const answer = tenants.deleteApi(world.model, workspaceId, apiId, log);
      const actual = await withEpoch(store, workspaceId, () =>
        store.deleteApi(workspaceId, apiId, log),
      );
      const expected = { answer, hasRisen: answer === "deleted" ? true : actual.hasRisen };
      return { actual, expected };
    },
  }),
  kind({
    title: "insertRootKey and findRootKey",
    input: fc.record({ workspace: any.workspace, pick: any.pick }),
    async run({ workspace, pick }, world, store) {
      const workspaceId = workspaceAt(workspace);
      const added = aRootKey(world.count(), { workspaceId });
      const log = world.log(workspaceId, "root_key.created", added.id);
      await store.insertRootKey(added, log);
      tenants.insertRootKey(world.model, added, log);
      const hash = choose(world.model.rootKeys, pick)?.hash ?? "unknown";
      return {
        actual: await store.findRootKey(hash),
        expected: tenants.findRootKey(world.model, hash),
      };
    },
  }),
  kind({
    title: "deleteRootKey and listRootKeys",
    input: fc.record({ workspace: any.rarely(any.workspace), pick: any.pick, page: any.page }),
    async run({ workspace, pick, page }, world, store) {
      const chosen = choose(world.model.rootKeys, pick);
      const workspaceId = workspaceOf(chosen, workspace);
      const { id = "root_unknown", hash = "unknown" } = chosen ?? {};
      const log = world.log(workspaceId, "root_key.revoked", id);
      const asked = pageAfter(rootKeysOf(world, workspaceId), page);
      return {
        actual: [
          await store.deleteRootKey(workspaceId, id, log),
          await store.findRootKey(hash),
          await store.listRootKeys(workspaceId, asked),
        ],
        expected: [
          tenants.deleteRootKey(world.model, workspaceId, id, log),
          tenants.findRootKey(world.model, hash),
          pageOf(rootKeysOf(world, workspaceId), (rootKey) => rootKey.id, asked),
        ],
      };
    },
  }),
];
