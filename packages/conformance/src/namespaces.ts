import assert from "node:assert/strict";
import type { KeyStore, NamespacePlan } from "@latchkey/core";
import {
  aKey,
  aNamespacePlan,
  aNewKey,
  anIdentity,
  aPlan,
  MINUTE_MS,
  NOW,
  OTHER_WORKSPACE,
  takeAdHoc,
  takeFrom,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

function take(store: KeyStore, fields: Partial<NamespacePlan> = {}) {
  return store.takeFromNamespace(aNamespacePlan(fields));
}

function windowOf(used: number, startedAt = NOW) {
  return { startedAt, used };
}

export const namespacePromises: readonly StorePromise[] = [
  {
    title: "a limit of no key counts up to its number, and a refusal takes nothing",
    async check({ store, other }) {
      assert.deepEqual(await take(store, { cost: 2 }), { kind: "admit", window: windowOf(2) });
      for (const handle of [other, store]) {
        const refused = await take(handle, { cost: 2 });
        assert.deepEqual(refused, { kind: "refuse", window: windowOf(2) });
      }
      assert.deepEqual(await take(other), { kind: "admit", window: windowOf(3) });
      assert.deepEqual(await take(store), { kind: "refuse", window: windowOf(3) });
    },
  },
  {
    title:
      "of many parallel takings from a limit of no key exactly as many go through as it allows",
    async check(stage) {
      const results = await race(stage, 40, (store) => take(store, { limit: 7 }));
      assert.deepEqual(tally(results.map(({ kind }) => kind)), { admit: 7, refuse: 33 });
      const used = results.flatMap(({ kind, window }) => (kind === "admit" ? [window.used] : []));
      assert.deepEqual(used.sort(), [1, 2, 3, 4, 5, 6, 7]);
      const look = await take(stage.other, { limit: 7, cost: 0 });
      assert.deepEqual(look, { kind: "admit", window: windowOf(7) });
    },
  },
  {
    title:
      "limits of no key that differ in workspace, namespace, identifier or duration count apart",
    async check({ store, other }) {
      const apart: readonly Partial<NamespacePlan>[] = [
        {},
        { workspaceId: OTHER_WORKSPACE },
        { namespace: "login" },
        { namespace: "Email" },
        { identifier: "bob@example.com" },
        { identifier: "" },
        { identifier: "a:b", namespace: "c" },
        { identifier: "b", namespace: "c:a" },
        { identifier: "a", namespace: "b:c" },
        { identifier: "😀 {tag} \u0000 '\"\\" },
        { durationMs: MINUTE_MS / 2 },
      ];
      for (const fields of apart) {
        const admitted = await take(store, { ...fields, cost: 3 });
        assert.deepEqual(admitted, { kind: "admit", window: windowOf(3) });
      }
      for (const fields of apart) {
        assert.equal((await take(other, fields)).kind, "refuse");
      }
    },
  },
  {
    title: "a limit of no key and the limits of keys and identities of its name count apart",
    async check({ store, other }) {
      const { namespace: name, limit, durationMs } = aNamespacePlan();
      const shared = { name, limit, durationMs, autoApply: false };
      const own = { ...shared, type: null, async: false };
      const identity = anIdentity(1, { ratelimits: [shared] });
      const key = aKey(1, { ratelimits: [own] });
      const loaded = await withKeys(store, aNewKey(key, { identity }));
      const adHoc = takeAdHoc({ name: "ad hoc", limit, durationMs }, limit);
      const limits = [takeFrom("key", own, limit), takeFrom("identity", shared, limit), adHoc];
      assert.equal((await store.charge(aPlan(loaded, { limits }))).kind, "charged");
      for (const identifier of [key.id, identity.id, ""]) {
        for (const namespace of [name, "ad hoc"]) {
          const admitted = await take(other, { namespace, identifier, cost: limit });
          assert.equal(admitted.kind, "admit");
        }
      }
      const refused = await other.charge(aPlan(loaded, { limits: [takeFrom("key", own)] }));
      assert.equal(refused.kind, "rate-limited");
    },
  },
  {
    title: "a limit of no key opens a window at the exact edge and not a millisecond before",
    async check({ store }) {
      const end = NOW + MINUTE_MS;
      await take(store, { cost: 3 });
      assert.equal((await take(store, { now: end - 1 })).kind, "refuse");
      const admitted = await take(store, { now: end });
      assert.deepEqual(admitted, { kind: "admit", window: windowOf(1, end) });
      assert.equal((await take(store, { now: end + 1, cost: 3 })).kind, "refuse");
    },
  },
  {
    title: "a clock that was set back reopens no window of a limit of no key",
    async check({ store, other }) {
      const later = NOW + MINUTE_MS;
      await take(store, { now: later, cost: 3 });
      const refused = await take(other, { now: NOW });
      assert.deepEqual(refused, { kind: "refuse", window: windowOf(3, later) });
    },
  },
  {
    title: "a cost of 0 shows how a limit of no key stands and takes nothing",
    async check({ store, other }) {
      const free = { cost: 0 };
      assert.deepEqual(await take(store, free), { kind: "admit", window: windowOf(0) });
      await take(store, { cost: 3 });
      assert.deepEqual(await take(other, free), { kind: "admit", window: windowOf(3) });
      const narrower = await take(other, { ...free, limit: 2 });
      assert.deepEqual(narrower, { kind: "refuse", window: windowOf(3) });
    },
  },
  {
    title: "a limit of no key that is raised goes on from what was taken",
    async check({ store, other }) {
      await take(store, { cost: 3 });
      const wider = await take(other, { limit: 5, cost: 2 });
      assert.deepEqual(wider, { kind: "admit", window: windowOf(5) });
      assert.equal((await take(store)).kind, "refuse");
    },
  },
  {
    title: "a limit of no key may be as high and as long as a whole number goes",
    async check({ store, other }) {
      const most = Number.MAX_SAFE_INTEGER;
      const wide = { limit: most, durationMs: most };
      const all = await take(store, { ...wide, cost: most });
      assert.deepEqual(all, { kind: "admit", window: windowOf(most, 0) });
      assert.equal((await take(other, wide)).kind, "refuse");
    },
  },
];
