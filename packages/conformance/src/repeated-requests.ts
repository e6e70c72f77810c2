import assert from "node:assert/strict";
import { type ChargeRequest, type LoadedKey, NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aKeyLimit,
  aKeyWithUses,
  aNewKey,
  anIdentity,
  aPlan,
  aRotation,
  hashOf,
  idOf,
  MINUTE_MS,
  NOW,
  takeFrom,
  WORKSPACE,
} from "./fixtures.js";
import { race } from "./race.js";
import { assertUpdated, insert, load, rotate, usesLeft, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const REQUEST: ChargeRequest = {
  id: "qf3OVxKZbo1nLrdUuTqZ0yWGQ1XW4qfZ6XhE0JYbD8w",
  fingerprint: "one use",
  rememberUntil: NOW + MINUTE_MS,
};

/** What makes another key of one. */
const NEXT = { id: idOf("key", 2), hash: hashOf(2) };

/** A plan under {@link REQUEST}. */
function requestPlan(loaded: LoadedKey, fields: Parameters<typeof aPlan>[1] = {}) {
  return aPlan(loaded, { request: REQUEST, ...fields });
}

export const repeatedRequestPromises: readonly StorePromise[] = [
  {
    title: "a repeated request gets the first answer and takes nothing again",
    async check({ store, other }) {
      const limit = aKeyLimit("default", 10);
      const key = aKey(1, { ratelimits: [limit] });
      const loaded = await withKeys(
        store,
        aNewKey(key, { usage: { remaining: 5, refilledAt: NOW } }),
      );
      const plan = requestPlan(loaded, { limits: [takeFrom("key", limit)] });
      const first = await store.charge(plan);
      assert.equal(first.kind, "charged");
      assert.equal((await store.charge({ ...plan, request: undefined })).kind, "charged");
      assert.deepEqual(await other.charge({ ...plan, now: NOW + 1 }), first);
      assert.equal(await usesLeft(store), 3);
      const look = await store.charge({ ...plan, request: undefined, mode: "look", cost: 0 });
      assert.ok("limits" in look);
      assert.equal(look.limits[0]?.remaining, 7);
    },
  },
  {
    title: "a repeated request of a key that draws from its identity takes nothing again",
    async check({ store, other }) {
      const key = aKey(1, { identityId: idOf("id", 1), usesFrom: "identity" });
      const shared = { remaining: 9, refilledAt: NOW };
      await store.insertIdentity(anIdentity(), shared, NO_CHANGES);
      const loaded = await withKeys(store, aNewKey(key), aNewKey({ ...key, ...NEXT }));
      const next = await load(store, NEXT.id);
      const first = await store.charge(requestPlan(loaded, { cost: 2 }));
      assert.deepEqual(first, { kind: "charged", remaining: 7, limits: [] });
      assert.equal((await other.charge(requestPlan(next, { cost: 3 }))).kind, "charged");
      assert.deepEqual(await other.charge(requestPlan(loaded, { cost: 2 })), first);
      const found = await store.getIdentity(WORKSPACE, { identityId: idOf("id", 1) });
      assert.equal(found?.usage.remaining, 4);
    },
  },
  {
    title:
      "a request of a rotated key is no request of its successor, though both take from one counter",
    async check({ store, other }) {
      const before = await withKeys(store, aKeyWithUses(9));
      const successor = await rotate(store, before, aRotation(before));
      const old = await load(store);
      for (const [index, loaded] of [old, successor, old, successor].entries()) {
        const result = await other.charge(requestPlan(loaded));
        assert.deepEqual(result, { kind: "charged", remaining: 8 - (index % 2), limits: [] });
      }
      assert.equal(await usesLeft(store), 7);
    },
  },
  {
    title: "what is remembered does not outlive the identity of the key",
    async check({ store, other }) {
      const loaded = await withKeys(store, aNewKey(aKey(), { identity: anIdentity() }));
      assert.equal((await store.charge(requestPlan(loaded))).kind, "charged");
      await store.deleteIdentity(WORKSPACE, idOf("id", 1), NO_CHANGES);
      assert.deepEqual(await other.charge(requestPlan(loaded)), { kind: "stale" });
    },
  },
  {
    title: "a refusal is remembered like any other answer",
    async check({ store, other }) {
      const loaded = await withKeys(store, aKeyWithUses(1));
      const first = await store.charge(requestPlan(loaded, { cost: 2 }));
      assert.deepEqual(first, { kind: "usage-exceeded", remaining: 1, limits: [] });
      const usage = {
        due: null,
        operation: { kind: "set", remaining: 9 },
        settledAt: NOW,
      } as const;
      assertUpdated(await store.updateKey(WORKSPACE, loaded.key.id, 1, { usage }, NO_CHANGES));
      assert.deepEqual(await other.charge(requestPlan(loaded, { cost: 2 })), first);
      assert.equal(await usesLeft(store), 9);
    },
  },
  {
    title: "of parallel repeats one takes, and all get the same answer",
    async check(stage) {
      const loaded = await withKeys(stage.store, aKeyWithUses(20));
      const answers = await race(stage, 15, (store) => store.charge(requestPlan(loaded)));
      for (const answer of answers) {
        assert.deepEqual(answer, { kind: "charged", remaining: 19, limits: [] });
      }
      assert.equal(await usesLeft(stage.store), 19);
    },
  },
  {
    title: "a request id that was used for another question is a conflict and takes nothing",
    async check({ store, other }) {
      const loaded = await withKeys(store, aKeyWithUses(5));
      await store.charge(requestPlan(loaded));
      const request = { ...REQUEST, fingerprint: "two uses" };
      const conflict = await other.charge(requestPlan(loaded, { cost: 2, request }));
      assert.deepEqual(conflict, { kind: "conflict" });
      assert.equal(await usesLeft(store), 4);
    },
  },
  {
    title: "a request is remembered up to its instant and not at it",
    async check({ store }) {
      const loaded = await withKeys(store, aKeyWithUses(5));
      const { rememberUntil } = REQUEST;
      await store.charge(requestPlan(loaded));
      await store.charge(requestPlan(loaded, { now: rememberUntil - 1 }));
      assert.equal(await usesLeft(store), 4);
      const again = { ...REQUEST, rememberUntil: rememberUntil + 1_000 };
      await store.charge(requestPlan(loaded, { now: rememberUntil, request: again }));
      assert.equal(await usesLeft(store), 3);
      await store.charge(requestPlan(loaded, { now: rememberUntil + 999, request: again }));
      assert.equal(await usesLeft(store), 3);
      const otherwise = { ...again, fingerprint: "two uses" };
      const plan = requestPlan(loaded, { now: rememberUntil + 1_000, cost: 2, request: otherwise });
      assert.equal((await store.charge(plan)).kind, "charged");
      assert.equal(await usesLeft(store), 1);
    },
  },
  {
    title: "a request id belongs to one key",
    async check({ store }) {
      const loaded = await withKeys(store, aKeyWithUses(5));
      await insert(store, aKeyWithUses(5, 2));
      const second = await load(store, aKey(2).id);
      await store.charge(requestPlan(loaded));
      await store.charge(requestPlan(second));
      assert.deepEqual([await usesLeft(store), await usesLeft(store, second.key.id)], [4, 4]);
    },
  },
  {
    title: "what is remembered does not outlive a change of the key",
    async check({ store, other }) {
      const loaded = await withKeys(store, aKeyWithUses(5));
      await store.charge(requestPlan(loaded));
      assertUpdated(
        await store.updateKey(WORKSPACE, loaded.key.id, 1, { switchedOn: false }, NO_CHANGES),
      );
      assert.deepEqual(await other.charge(requestPlan(loaded)), { kind: "stale" });
    },
  },
  {
    title: "a stale charge is not remembered",
    async check({ store }) {
      const loaded = await withKeys(store, aKeyWithUses(5));
      const expects = { ...aPlan(loaded).expects, keyVersion: 9 };
      assert.deepEqual(await store.charge(requestPlan(loaded, { expects })), { kind: "stale" });
      assert.equal((await store.charge(requestPlan(loaded))).kind, "charged");
      assert.equal(await usesLeft(store), 4);
    },
  },
  {
    title: "many requests of one key are remembered side by side",
    async check(stage) {
      const loaded = await withKeys(stage.store, aKeyWithUses(100));
      const answers = await race(stage, 60, (store, number) =>
        store.charge(
          requestPlan(loaded, { request: { ...REQUEST, id: `request-${number % 20}` } }),
        ),
      );
      assert.equal(await usesLeft(stage.store), 80);
      for (const [number, answer] of answers.entries()) {
        assert.deepEqual(answer, answers[number % 20]);
      }
    },
  },
];
