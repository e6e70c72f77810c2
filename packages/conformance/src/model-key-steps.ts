import type { ApiRecord, KeyPatch, KeyRecord, NewKey } from "@latchkey/core";
import fc from "fast-check";
import { aKey, aRotation, hashOf } from "./fixtures.js";
import * as any from "./model-arbitraries.js";
import { creationsIn, grantsIn } from "./model-grant-input.js";
import { missingGrants } from "./model-grants.js";
import * as keys from "./model-keys.js";
import { countersOf, type Model } from "./model-state.js";
import { pageAfter, workspaceOf } from "./model-tenant-steps.js";
import { candidate, choose, kind, type World, workspaceAt } from "./model-world.js";

const { WORKSPACES } = any;

/** Mostly an API of the workspace, sometimes another's or none. */
function apiOf({ apis }: Model, workspaceId: string, pick: number): ApiRecord | undefined {
  const own = apis.filter((api) => api.workspaceId === workspaceId);
  return pick % 8 === 0 ? choose(apis, pick >> 3) : own[pick % own.length];
}

const newKey = fc.record({
  api: any.pick,
  place: fc.nat({ max: 9 }),
  takenHash: any.rarely(any.pick),
  isTwin: fc.constantFrom(true, ...Array<boolean>(15).fill(false)),
  externalId: fc.option(any.externalId),
  fields: any.keyFields,
  usage: any.usage,
  grants: fc.oneof(
    { arbitrary: any.sureGrants, weight: 8 },
    { arbitrary: any.anyGrants, weight: 1 },
  ),
});
type DrawnKey = typeof newKey extends fc.Arbitrary<infer Value> ? Value : never;

function newKeyOf(drawn: DrawnKey, workspace: number, world: World): NewKey {
  const { api, place, takenHash, externalId, fields, usage } = drawn;
  const number = world.count();
  const workspaceId = workspaceAt(workspace);
  const key = aKey(1_000 * place + number, {
    ...(fields as Partial<KeyRecord>),
    workspaceId,
    apiId: apiOf(world.model, workspaceId, api)?.id ?? "api_unknown",
    hash: (takenHash !== null && choose(world.everyKey, takenHash)?.hash) || hashOf(number),
  });
  const identity = externalId === null ? null : candidate(world, workspace, externalId);
  return { key, usage, identity, grants: grantsIn(world, workspace, drawn.grants) };
}

/** The first key of a batch is there for twins, which want its hash as well. */
function newKeysOf(drawn: readonly DrawnKey[], workspace: number, world: World): readonly NewKey[] {
  const batch = drawn.map((one) => newKeyOf(one, workspace, world));
  const hash = batch[0]?.key.hash as string;
  return batch.map((one, index) =>
    drawn[index]?.isTwin ? { ...one, key: { ...one.key, hash } } : one,
  );
}

function logOfNew(world: World, newKeys: readonly NewKey[]) {
  return newKeys.flatMap(({ key, identity, grants }) => {
    const { id, workspaceId } = key;
    const identityId = identity?.id ?? key.identityId;
    return [
      ...(identity === null ? [] : [creationOf(world, identity)]),
      ...creationsIn(world, grants),
      ...world.log(workspaceId, "key.created", id, { keyId: id, identityId }),
    ];
  });
}

function creationOf(world: World, { id, workspaceId }: { id: string; workspaceId: string }) {
  const entry = world.entry(workspaceId, "identity.created", id, { identityId: id });
  return { ...entry, ifCreated: true };
}

export const insertKeysKind = kind({
  title: "insertKeys",
  input: fc.record({
    workspace: any.workspace,
    batch: fc.oneof(
      { arbitrary: fc.array(newKey, { minLength: 1, maxLength: 1 }), weight: 2 },
      { arbitrary: fc.array(newKey, { minLength: 2, maxLength: 3 }), weight: 1 },
    ),
  }),
  isClear({ workspace, batch }, world) {
    const { model } = world;
    const newKeys = newKeysOf(batch, workspace, world);
    const refusalsOf = newKeys.map(({ key }, index) => [
      !model.hasApi(key),
      keys.isTaken(model, key) || newKeys.findIndex((other) => other.key.hash === key.hash) < index,
    ]);
    const isMissing = newKeys.map(
      ({ key, grants }) => missingGrants(model, key.workspaceId, grants) !== null,
    );
    // What one key names and another makes, the port leaves open.
    if (isMissing.includes(true) && newKeys.length > 1) return false;
    const isRefused = refusalsOf.some((refusals) => refusals.includes(true));
    if (isMissing.includes(true) && isRefused) return false;
    return !refusalsOf.some((refusals) => refusals[0] && refusals[1]);
  },
  async run({ workspace, batch }, world, store) {
    const newKeys = newKeysOf(batch, workspace, world);
    const log = logOfNew(world, newKeys);
    const expected = keys.insertKeys(world.model, newKeys, log);
    if (expected.kind === "inserted") world.everyKey.push(...newKeys.map(({ key }) => key));
    return { actual: await store.insertKeys(newKeys, log), expected };
  },
});

/**
 * Whether other keys share the counters of this one. Whether its limits can then be taken away from them, the port
 * leaves open.
 */
function sharesCounters({ model }: World, record: KeyRecord): boolean {
  return model.keys.some(
    (other) => other.record.id !== record.id && countersOf(other.record) === countersOf(record),
  );
}

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
    const record = world.model.key(workspaceAt(own), keyId)?.record;
    // Never two refusals at once: the port does not say which of them is answered.
    const drawn = usage === undefined ? anyGrants : sureGrants;
    const identity = externalId && candidate(world, own, externalId);
    const grants = drawn && grantsIn(world, own, drawn);
    const ratelimits =
      record && fields.ratelimits && sharesCounters(world, record)
        ? record.ratelimits.map((limit) => ({ ...limit, limit: limit.limit + 1 }))
        : fields.ratelimits;
    const patch: KeyPatch = {
      ...fields,
      ratelimits,
      identity,
      usage: usage && any.usageChangeAt(usage, world.now),
      grants,
    };
    const workspaceId = workspaceAt(workspace ?? own);
    const identityId = identity?.id ?? null;
    const log = [
      ...(identity ? [creationOf(world, identity)] : []),
      ...creationsIn(world, grants ?? {}),
      ...world.log(workspaceId, "key.updated", keyId, { keyId, identityId }),
    ].map(({ change, ifCreated }) => ({ change: { ...change, workspaceId }, ifCreated }));
    const isEmpty = Object.values(patch).every((value) => value === undefined);
    const given = [
      workspaceId,
      keyId,
      (record?.version ?? 1) + offset,
      patch,
      isEmpty ? [] : log,
    ] as const;
    return {
      actual: await store.updateKey(...given),
      expected: keys.updateKey(world.model, ...given),
    };
  },
});

export const rotateKeyKind = kind({
  title: "rotateKey",
  input: fc.record({
    workspace: any.rarely(any.workspace),
    pick: any.pick,
    offset: any.versionOffset,
    place: fc.nat({ max: 9 }),
    takenHash: any.rarely(any.pick),
    graceMs: fc.nat({ max: 10 }),
    name: fc.option(fc.constant("successor")),
  }),
  // That a key has one successor is for whoever rotates it to see to; and one refusal at a time.
  isClear({ pick, offset, takenHash }, { everyKey, model }) {
    const chosen = choose(everyKey, pick);
    const record = chosen && model.key(chosen.workspaceId, chosen.id)?.record;
    return !record?.rotatedTo && (offset === 0 || takenHash === null);
  },
  async run({ workspace, pick, offset, place, takenHash, graceMs, name }, world, store) {
    const chosen = choose(world.everyKey, pick) ?? aKey(999_999);
    const loaded = await store.getKey(chosen.workspaceId, chosen.id);
    const key = loaded?.key ?? chosen;
    const number = world.count();
    const taken = takenHash === null ? undefined : choose(world.everyKey, takenHash);
    const isTaken = taken !== undefined && taken.workspaceId === key.workspaceId;
    const rotation = {
      ...aRotation({ key }, 1_000 * place + number, {
        name,
        hash: isTaken ? taken.hash : hashOf(number),
      }),
      expiresAt: world.now + graceMs,
      updatedAt: world.now,
    };
    const workspaceId = workspaceOf(key, workspace);
    const log = world.log(workspaceId, "key.rotated", key.id, { keyId: key.id });
    const version = (world.model.key(key.workspaceId, key.id)?.record.version ?? 1) + offset;
    const given = [workspaceId, key.id, version, rotation, log] as const;
    const expected = keys.rotateKey(world.model, ...given);
    if (expected === "rotated") world.everyKey.push(rotation.successor);
    return { actual: await store.rotateKey(...given), expected };
  },
});

/** Steps on keys beside those above. */
export const keyKinds = [
  kind({
    title: "deleteKey",
    input: fc.record({ workspace: any.workspace, pick: any.pick, permanent: fc.boolean() }),
    async run({ workspace, pick, permanent }, world, store) {
      const keyId = choose(world.everyKey, pick)?.id ?? "key_unknown";
      const workspaceId = workspaceAt(workspace);
      const log = world.log(workspaceId, "key.deleted", keyId, { keyId });
      const removal = { deletedAt: world.now, permanent };
      return {
        actual: await store.deleteKey(workspaceId, keyId, removal, log),
        expected: keys.deleteKey(world.model, workspaceId, keyId, log),
      };
    },
  }),
  kind({
    title: "deleteKeys",
    input: fc.record({ pick: any.pick, limit: fc.integer({ min: 1, max: 3 }) }),
    async run({ pick, limit }, world, store) {
      const { workspaceId, apiId } = choose(world.everyKey, pick) ?? aKey(1, { apiId: "unknown" });
      const entries = world.everyKey.map(({ id }) =>
        world.entry(workspaceId, "key.deleted", id, { keyId: id }),
      );
      const entryOf = (keyId: string) => {
        const entry = entries.find(({ change }) => change.keyId === keyId);
        if (entry === undefined) throw new Error(`${keyId} was never inserted`);
        return entry;
      };
      const isLogged = pick % 3 > 0;
      const answer = await store.deleteKeys(
        workspaceId,
        apiId,
        limit,
        world.now,
        isLogged ? entryOf : null,
      );
      return {
        actual: { ...answer, deleted: answer.deleted.toSorted() },
        expected: keys.deleteKeys(world.model, workspaceId, apiId, limit, (keyId) =>
          isLogged ? [entryOf(keyId)] : [],
        ),
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
      return {
        actual: [found, await store.getKey(workspaceId, id)],
        expected: [
          keys.findKey(world.model, hash, workspaceId),
          keys.getKey(world.model, workspaceId, id),
        ],
      };
    },
  }),
  kind({
    title: "listKeys",
    input: fc.record({ api: any.pick, identity: fc.option(any.pick), page: any.page }),
    async run({ api, identity, page }, { model, everyKey }, store) {
      const { id = "api_unknown", workspaceId = workspaceAt(0) } = choose(model.apis, api) ?? {};
      const chosen = identity === null ? undefined : choose(model.identities, identity);
      const identityId = identity === null ? null : (chosen?.record.id ?? "id_unknown");
      const asked = pageAfter(everyKey, page);
      return {
        actual: await store.listKeys(workspaceId, id, { identityId }, asked),
        expected: keys.listKeys(model, workspaceId, id, identityId, asked),
      };
    },
  }),
];
