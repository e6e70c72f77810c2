import assert from "node:assert/strict";
import { type ChargeResult, type KeyStore, type LimitCharge, NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aKeyLimit,
  aNewKey,
  anIdentity,
  aPlan,
  aSharedLimit,
  DAY_MS,
  idOf,
  MINUTE_MS,
  NOW,
  takeAdHoc,
  takeFrom,
  WORKSPACE,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { assertUpdated, load, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const KEY_ID = idOf("key", 1);
const LIMIT = aKeyLimit("default", 3);
const LIMITED = aNewKey(aKey(1, { ratelimits: [LIMIT] }));

/** Takes from one limit of a key. */
async function take(
  store: KeyStore,
  limit: LimitCharge,
  now = NOW,
  keyId = KEY_ID,
): Promise<ChargeResult> {
  return store.charge(aPlan(await load(store, keyId), { now, limits: [limit] }));
}

/** Units left of each limit, asked without taking. */
async function unitsLeft(
  store: KeyStore,
  limits: readonly LimitCharge[],
  now = NOW,
): Promise<readonly number[]> {
  const looking = limits.map((limit) => ({ ...limit, cost: 0 }));
  const result = await store.charge(
    aPlan(await load(store), { now, cost: 0, mode: "look", limits: looking }),
  );
  assert.ok("limits" in result);
  return result.limits.map(({ remaining }) => remaining);
}

export const windowPromises: readonly StorePromise[] = [
  {
    title: "of many parallel charges exactly as many go through as the limit allows",
    async check(stage) {
      const loaded = await withKeys(stage.store, LIMITED);
      const plan = aPlan(loaded, { limits: [takeFrom("key", LIMIT)] });
      const results = await race(stage, 25, (store) => store.charge(plan));
      assert.deepEqual(tally(results.map(({ kind }) => kind)), { charged: 3, "rate-limited": 22 });
    },
  },
  {
    title: "a window opens at the exact edge and not a millisecond before",
    async check({ store }) {
      await withKeys(store, LIMITED);
      const end = NOW + MINUTE_MS;
      const all = takeFrom("key", LIMIT, 3);
      assert.equal((await take(store, all, NOW)).kind, "charged");
      assert.equal((await take(store, takeFrom("key", LIMIT), end - 1)).kind, "rate-limited");
      const reading = {
        name: "default",
        limit: 3,
        remaining: 0,
        resetAt: end + MINUTE_MS,
        exceeded: false,
      };
      assert.deepEqual(await take(store, all, end), {
        kind: "charged",
        remaining: null,
        limits: [reading],
      });
      assert.equal((await take(store, takeFrom("key", LIMIT), end + 1)).kind, "rate-limited");
    },
  },
  {
    title: "a clock that was set back reopens no window",
    async check({ store }) {
      await withKeys(store, LIMITED);
      const limits = [
        takeFrom("key", LIMIT, 3),
        takeAdHoc({ name: "burst", limit: 3, durationMs: MINUTE_MS }, 3),
      ];
      await store.charge(aPlan(await load(store), { now: NOW + MINUTE_MS, limits }));
      for (const limit of limits) {
        const result = await take(store, { ...limit, cost: 1 }, NOW);
        assert.equal(result.kind, "rate-limited");
        assert.equal(result.limits[0]?.resetAt, NOW + 2 * MINUTE_MS);
      }
    },
  },
  {
    title: "a limit of a key is that key's alone",
    async check({ store }) {
      await withKeys(store, LIMITED, aNewKey(aKey(2, { ratelimits: [LIMIT] })));
      const adHoc = takeAdHoc({ name: "burst", limit: 3, durationMs: MINUTE_MS }, 3);
      for (const limit of [takeFrom("key", LIMIT, 3), adHoc]) {
        assert.equal((await take(store, limit, NOW, idOf("key", 1))).kind, "charged");
        assert.equal((await take(store, limit, NOW, idOf("key", 2))).kind, "charged");
      }
    },
  },
  {
    title: "a limit of an identity is shared by all its keys and by no other's",
    async check(stage) {
      const shared = aSharedLimit("requests", 5);
      const identities = [1, 2].map((number) => anIdentity(number, { ratelimits: [shared] }));
      const [mine = null, theirs = null] = identities;
      await withKeys(
        stage.store,
        aNewKey(aKey(1), { identity: mine }),
        aNewKey(aKey(2), { identity: mine }),
        aNewKey(aKey(3), { identity: theirs }),
      );
      const results = await race(stage, 20, (store, number) =>
        take(store, takeFrom("identity", shared), NOW, idOf("key", 1 + ((number >> 1) % 2))),
      );
      assert.deepEqual(tally(results.map(({ kind }) => kind)), { charged: 5, "rate-limited": 15 });
      const [another] = [
        await take(stage.store, takeFrom("identity", shared, 5), NOW, idOf("key", 3)),
      ];
      assert.equal(another.kind, "charged");
    },
  },
  {
    title: "limits that differ in owner, name or duration are counted apart",
    async check({ store }) {
      const key = aKey(1, { ratelimits: [aKeyLimit("a", 9), aKeyLimit("b", 9)] });
      const identity = anIdentity(1, { ratelimits: [aSharedLimit("a", 9), aSharedLimit("b", 9)] });
      await withKeys(store, aNewKey(key, { identity }));
      const limits = [
        takeFrom("key", aKeyLimit("a", 9), 1),
        takeFrom("key", aKeyLimit("b", 9), 2),
        takeFrom("identity", aSharedLimit("a", 9), 3),
        takeFrom("identity", aSharedLimit("b", 9), 4),
        takeAdHoc({ name: "c", limit: 9, durationMs: 1_000 }, 5),
        takeAdHoc({ name: "c", limit: 9, durationMs: 2_000 }, 6),
        takeAdHoc({ name: "c 1000", limit: 9, durationMs: 1_000 }, 7),
        takeAdHoc({ name: "1000 c", limit: 9, durationMs: 1_000 }, 8),
        takeAdHoc({ name: "C", limit: 9, durationMs: 1_000 }, 0),
      ];
      const result = await store.charge(aPlan(await load(store), { limits }));
      assert.equal(result.kind, "charged");
      assert.deepEqual(
        result.limits.map(({ remaining }) => remaining),
        [8, 7, 6, 5, 4, 3, 2, 1, 9],
      );
      assert.deepEqual(await unitsLeft(store, limits), [8, 7, 6, 5, 4, 3, 2, 1, 9]);
    },
  },
  {
    title: "a charge over many limits answers each of them in the order asked",
    async check({ store }) {
      await withKeys(store, aNewKey());
      const limits = Array.from({ length: 40 }, (_, number) =>
        takeAdHoc({ name: `limit-${(number * 17) % 40}`, limit: 100, durationMs: DAY_MS }, number),
      );
      const result = await store.charge(aPlan(await load(store), { limits }));
      assert.ok(result.kind === "charged");
      assert.deepEqual(
        result.limits.map(({ name, remaining }) => [name, remaining]),
        limits.map(({ name, cost }) => [name, 100 - cost]),
      );
    },
  },
  {
    title: "a cost of 0 shows a full window and takes nothing from it",
    async check({ store }) {
      await withKeys(store, LIMITED);
      await take(store, takeFrom("key", LIMIT, 3));
      const result = await take(store, takeFrom("key", LIMIT, 0));
      assert.equal(result.kind, "charged");
      assert.equal((await take(store, takeFrom("key", LIMIT))).kind, "rate-limited");
    },
  },
  {
    title: "counters of limits that keep their name and duration go on when the limits are updated",
    async check({ store }) {
      const shared = aSharedLimit("requests", 10);
      const identity = anIdentity(1, { ratelimits: [shared] });
      const { key } = await withKeys(store, aNewKey(LIMITED.key, { identity }));
      await take(store, takeFrom("key", LIMIT, 2));
      await take(store, takeFrom("identity", shared, 4));
      const [wider, widerShared] = [aKeyLimit("default", 7), aSharedLimit("requests", 20)];
      const ratelimits = [aKeyLimit("other", 1), wider];
      assertUpdated(
        await store.updateKey(WORKSPACE, KEY_ID, key.version, { ratelimits }, NO_CHANGES),
      );
      await store.updateIdentity(
        WORKSPACE,
        identity.id,
        1,
        { ratelimits: [widerShared] },
        NO_CHANGES,
      );
      const limits = [takeFrom("key", wider), takeFrom("identity", widerShared)];
      assert.deepEqual(await unitsLeft(store, limits), [5, 16]);
    },
  },
  {
    title: "counters go on when anything but the limits is updated",
    async check({ store }) {
      const shared = aSharedLimit("requests", 10);
      const identity = anIdentity(1, { ratelimits: [shared] });
      const { key } = await withKeys(store, aNewKey(LIMITED.key, { identity }));
      const limits = [takeFrom("key", LIMIT, 2), takeFrom("identity", shared, 4)];
      await store.charge(aPlan(await load(store), { limits }));
      assertUpdated(
        await store.updateKey(WORKSPACE, KEY_ID, key.version, { name: "new" }, NO_CHANGES),
      );
      await store.updateIdentity(WORKSPACE, identity.id, 1, { meta: { plan: "pro" } }, NO_CHANGES);
      assert.deepEqual(await unitsLeft(store, limits), [1, 6]);
    },
  },
  {
    title: "counters of limits that are taken away are forgotten",
    async check({ store }) {
      const shared = aSharedLimit("requests", 10);
      const identity = anIdentity(1, { ratelimits: [shared] });
      const { key } = await withKeys(store, aNewKey(LIMITED.key, { identity }));
      const limits = [takeFrom("key", LIMIT, 2), takeFrom("identity", shared, 4)];
      await store.charge(aPlan(await load(store), { limits }));
      const longer = { durationMs: 2 * MINUTE_MS };
      for (const [version, ratelimits] of [
        [key.version, [{ ...LIMIT, ...longer }]],
        [key.version + 1, [LIMIT]],
      ] as const) {
        assertUpdated(
          await store.updateKey(WORKSPACE, KEY_ID, version, { ratelimits }, NO_CHANGES),
        );
      }
      for (const [version, ratelimits] of [
        [1, []],
        [2, [shared]],
      ] as const) {
        await store.updateIdentity(WORKSPACE, identity.id, version, { ratelimits }, NO_CHANGES);
      }
      assert.deepEqual(await unitsLeft(store, limits), [3, 10]);
    },
  },
];
