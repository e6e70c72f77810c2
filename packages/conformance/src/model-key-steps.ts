import type { ApiRecord, KeyPatch, KeyRecord } from "@latchkey/core";
import fc from "fast-check";
import { aKey, hashOf, idOf } from "./fixtures.js";
import type { Model } from "./model.js";
import * as any from "./model-arbitraries.js";
import { candidate, choose, kind, workspaceAt } from "./model-world.js";

const { WORKSPACES } = any;

/** Mostly an API of the workspace, sometimes another's or none. */
function apiOf({ apis }: Model, workspaceId: string, pick: number): ApiRecord | undefined {
  const own = apis.filter((api) => api.workspaceId === workspaceId);
  return pick % 8 === 0 ? choose(apis, pick >> 3) : own[pick % own.length];
}

export const insertKeyKind = kind({
  title: "insertKey",
  input: fc.record({
    workspace: any.workspace,
    api: any.pick,
    place: fc.nat({ max: 9 }),
    takenHash: any.rarely(any.pick),
    externalId: fc.option(any.externalId),
    fields: any.keyFields,
    usage: any.usage,
    grants: fc.oneof(
      { arbitrary: any.sureGrants, weight: 4 },
      { arbitrary: any.anyGrants, weight: 1 },
    ),
  }),
  isClear: ({ workspace, api, takenHash, grants }, { model, everyKey }) => {
    const workspaceId = workspaceAt(workspace);
    const chosen = apiOf(model, workspaceId, api);
    const hash = takenHash === null ? undefined : choose(everyKey, takenHash)?.hash;
    const refusals = [
      chosen?.workspaceId !== workspaceId,
      model.keys.some(({ record }) => record.hash === hash && record.workspaceId === workspaceId),
      model.missing(workspaceId, any.grantsIn(workspace, grants)) !== null,
    ];
    return refusals.filter(Boolean).length <= 1;
  },
  async run({ workspace, api, place, takenHash, externalId, fields, usage, grants }, world, store) {
    const number = world.count();
    const workspaceId = workspaceAt(workspace);
    const key = aKey(1_000 * place + number, {
      ...(fields as Partial<KeyRecord>),
      workspaceId,
      apiId: apiOf(world.model, workspaceId, api)?.id ?? "api_unknown",
      hash: (takenHash !== null && choose(world.everyKey, takenHash)?.hash) || hashOf(number),
    });
    const identity = externalId === null ? null : candidate(world, workspace, externalId);
    const newKey = { key, usage, identity, grants: any.grantsIn(workspace, grants) };
    const expected = world.model.insertKey(newKey);
    if (expected.kind === "inserted") world.everyKey.push(key);
    return { actual: await store.insertKey(newKey), expected };
  },
});

export const updateKeyKind = kind({
  title: "updateKey",
  input: fc.record({
    workspace: any.rarely(any.workspace),
    pick: any.pick,
    offset: any.versionOffset,
    fields: any.keyFields,
    externalId: fc.option(fc.option(any.externalId), { nil: undefined }),
    usage: fc.option(any.usageChange, { nil: undefined }),
    anyGrants: fc.option(any.anyGrants, { nil: undefined }),
    sureGrants: fc.option(any.sureGrants, { nil: undefined }),
  }),
  async run(
    { workspace, pick, offset, fields, externalId, usage, anyGrants, sureGrants },
    world,
    store,
  ) {
    const chosen = choose(world.everyKey, pick);
    const own = Math.max(0, WORKSPACES.indexOf(chosen?.workspaceId ?? ""));
    const keyId = chosen?.id ?? "key_unknown";
    const version = world.model.findKey(({ id }) => id === keyId)?.key.version ?? 1;
    // Never two refusals at once: the port does not say which of them is answered.
    const grants = usage === undefined ? anyGrants : sureGrants;
    const patch: KeyPatch = {
      ...fields,
      identity: externalId && candidate(world, own, externalId),
      usage: usage && {
        operation: usage.operation,
        due: any.dueAt(usage.refill, world.now),
        settledAt: world.now,
      },
      grants: grants && any.grantsIn(own, grants),
    };
    const workspaceId = workspaceAt(workspace ?? own);
    return {
      actual: await store.updateKey(workspaceId, keyId, version + offset, patch),
      expected: world.model.updateKey(workspaceId, keyId, version + offset, patch),
    };
  },
});

/** Steps on keys beside the two above. */
export const keyKinds = [
  kind({
    title: "deleteKey",
    input: fc.record({ workspace: any.workspace, pick: any.pick }),
    async run({ workspace, pick }, { model, everyKey, now }, store) {
      const keyId = choose(everyKey, pick)?.id ?? "key_unknown";
      const workspaceId = workspaceAt(workspace);
      return {
        actual: await store.deleteKey(workspaceId, keyId, now),
        expected: model.deleteKey(workspaceId, keyId),
      };
    },
  }),
  kind({
    title: "findKey and getKey",
    input: fc.record({ workspace: any.workspace, pick: any.pick }),
    async run({ workspace, pick }, world, store) {
      const { id = "key_unknown", hash = "unknown" } = choose(world.everyKey, pick) ?? {};
      const workspaceId = workspaceAt(workspace);
      const found = await store.findKey(hash, workspaceId);
      if (found !== null) world.handles.set(found.key.id, found.handle);
      const { model } = world;
      return {
        actual: [found, await store.getKey(workspaceId, id)],
        expected: [
          model.findKey((key) => key.hash === hash && key.workspaceId === workspaceId),
          model.findKey((key) => key.id === id && key.workspaceId === workspaceId),
        ],
      };
    },
  }),
  kind({
    title: "listKeys",
    input: fc.record({
      api: any.pick,
      identity: fc.option(any.pick),
      after: fc.option(any.pick),
      limit: fc.integer({ min: 1, max: 4 }),
    }),
    async run({ api, identity, after, limit }, { model, everyKey }, store) {
      const { id = "api_unknown", workspaceId = workspaceAt(0) } = choose(model.apis, api) ?? {};
      const identityId =
        identity === null ? null : (choose(model.identities, identity)?.id ?? "id_unknown");
      const afterId = after === null ? null : (choose(everyKey, after)?.id ?? idOf("key", 5_000));
      const page = { afterId, limit };
      return {
        actual: await store.listKeys(workspaceId, id, { identityId }, page),
        expected: model.listKeys(workspaceId, id, identityId, page),
      };
    },
  }),
];
