import assert from "node:assert/strict";
import { type KeyStore, type LimitCharge, NO_CHANGES } from "@latchkey/core";
import {
  aPlan,
  aRotation,
  aUsageChange,
  DAY_MS,
  idOf,
  MINUTE_MS,
  NOW,
  REMOVAL,
  takeAdHoc,
  takeFrom,
  WORKSPACE,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { aFullKey, LIMIT, NEW, OLD, withRotated } from "./rotated-scene.js";
import { assertUpdated, load, rotate, usesLeft, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

/** What is left of limits, asked through a key without taking. */
async function unitsLeft(store: KeyStore, keyId: string, limits: readonly LimitCharge[]) {
  const looking = limits.map((limit) => ({ ...limit, cost: 0 }));
  const look = aPlan(await load(store, keyId), { mode: "look", cost: 0, limits: looking });
  const result = await store.charge(look);
  assert.ok("limits" in result);
  return result.limits.map(({ remaining }) => remaining);
}

export const sharedCounterPromises: readonly StorePromise[] = [
  {
    title: "what the old key used is used for its successor, and the other way round",
    async check({ store, other }) {
      const before = await withKeys(store, aFullKey());
      const adHoc = takeAdHoc({ name: "burst", limit: 5, durationMs: MINUTE_MS });
      const limits = [takeFrom("key", LIMIT), adHoc];
      assert.equal((await store.charge(aPlan(before, { limits }))).kind, "charged");
      await rotate(store, before, aRotation(before));
      for (const [index, keyId] of [NEW, OLD, NEW].entries()) {
        assert.equal(await usesLeft(other, keyId), 8 - index);
        assert.deepEqual(await unitsLeft(other, keyId, limits), [6 - index, 4 - index]);
        const plan = aPlan(await load(other, keyId), { limits });
        assert.equal((await other.charge(plan)).kind, "charged");
      }
    },
  },
  {
    title: "of many parallel uses of both keys exactly as many are taken as are left",
    async check(stage) {
      const { old, successor } = await withRotated(stage.store);
      const results = await race(stage, 40, (store, number) =>
        store.charge(aPlan(number % 4 < 2 ? old : successor)),
      );
      const kinds = tally(results.map(({ kind }) => kind));
      assert.deepEqual(kinds, { charged: 9, "usage-exceeded": 31 });
      assert.deepEqual(
        [await usesLeft(stage.store, OLD), await usesLeft(stage.store, NEW)],
        [0, 0],
      );
    },
  },
  {
    title: "of many parallel charges of both keys exactly as many go through as a limit allows",
    async check(stage) {
      const { old, successor } = await withRotated(stage.store, null);
      const burst = takeAdHoc({ name: "burst", limit: 5, durationMs: MINUTE_MS });
      for (const [limit, admitted] of [
        [takeFrom("key", LIMIT), 7],
        [burst, 5],
      ] as const) {
        const results = await race(stage, 24, (store, number) =>
          store.charge(aPlan(number % 4 < 2 ? old : successor, { limits: [limit] })),
        );
        const kinds = tally(results.map(({ kind }) => kind));
        assert.deepEqual(kinds, { charged: admitted, "rate-limited": 24 - admitted });
      }
    },
  },
  {
    title: "a change of the uses of one key of a rotation is a change for both",
    async check({ store, other }) {
      await withRotated(store);
      const usage = aUsageChange({ kind: "increment", by: 5 });
      for (const [keyId, version, left] of [
        [OLD, 2, 14],
        [NEW, 1, 19],
      ] as const) {
        assertUpdated(await store.updateKey(WORKSPACE, keyId, version, { usage }, NO_CHANGES));
        assert.equal(await usesLeft(other, OLD), left);
        assert.equal(await usesLeft(other, NEW), left);
      }
    },
  },
  {
    title: "a refill that is owed to a rotated key is settled once for both",
    async check(stage) {
      const { old, successor } = await withRotated(stage.store, 0);
      const refill = { amount: 9, dueAt: NOW + DAY_MS };
      const results = await race(stage, 20, (store, number) =>
        store.charge(aPlan(number % 4 < 2 ? old : successor, { now: refill.dueAt, refill })),
      );
      const kinds = tally(results.map(({ kind }) => kind));
      assert.deepEqual(kinds, { charged: 9, "usage-exceeded": 11 });
    },
  },
  ...[OLD, NEW].map((keyId) => ({
    title: `deleting ${keyId === OLD ? "the old key" : "the successor"} leaves the other its counters`,
    async check({ store, other }: Parameters<StorePromise["check"]>[0]) {
      const { successor } = await withRotated(store);
      const rest = keyId === OLD ? NEW : OLD;
      const limits = [
        takeFrom("key", LIMIT, 2),
        takeAdHoc({ name: "burst", limit: 5, durationMs: MINUTE_MS }, 3),
      ];
      await store.charge(aPlan(successor, { cost: 4, limits }));
      await store.deleteKey(WORKSPACE, keyId, { deletedAt: NOW, permanent: true }, NO_CHANGES);
      assert.equal(await other.getKey(WORKSPACE, keyId), null);
      assert.equal(await usesLeft(other, rest), 5);
      assert.deepEqual(await unitsLeft(other, rest, limits), [5, 2]);
      assert.equal((await other.charge(aPlan(await load(other, rest)))).kind, "charged");
      assert.equal(await usesLeft(store, rest), 4);
    },
  })),
  {
    title: "keys deleted a few at a time leave those that share their counters what is left",
    async check({ store, other }) {
      await withRotated(store);
      const { deleted } = await store.deleteKeys(WORKSPACE, idOf("api", 1), 1, NOW, null);
      const rest = deleted[0] === OLD ? NEW : OLD;
      await other.charge(aPlan(await load(other, rest), { cost: 4 }));
      assert.equal(await usesLeft(store, rest), 5);
    },
  },
  {
    title: "the keys of a chain of rotations share one counter, also when the first is gone",
    async check(stage) {
      const { store } = stage;
      const { successor } = await withRotated(store);
      const third = await rotate(store, successor, aRotation(successor, 3));
      assert.deepEqual([third.key.rotatedFrom, third.key.countersId], [NEW, OLD]);
      assert.equal((await load(store, NEW)).key.rotatedTo, third.key.id);
      assert.equal((await store.charge(aPlan(third, { cost: 2 }))).kind, "charged");
      await store.deleteKey(WORKSPACE, OLD, REMOVAL, NO_CHANGES);
      const second = await load(stage.other, NEW);
      const results = await race(stage, 20, (handle, number) =>
        handle.charge(aPlan(number % 4 < 2 ? second : third)),
      );
      const kinds = tally(results.map(({ kind }) => kind));
      assert.deepEqual(kinds, { charged: 7, "usage-exceeded": 13 });
    },
  },
  {
    title: "charges that race with a rotation lose no use and take none twice",
    async check(stage) {
      const before = await withKeys(stage.store, aFullKey(100));
      const taken = await race(stage, 30, async (store, number) => {
        if (number === 5) {
          await rotate(store, before, aRotation(before));
          return 0;
        }
        for (;;) {
          const { kind } = await store.charge(aPlan(await load(store, OLD), { cost: 2 }));
          if (kind === "charged") return 2;
          assert.equal(kind, "stale");
        }
      });
      const spent = taken.reduce<number>((sum, cost) => sum + cost, 0);
      assert.equal(await usesLeft(stage.other, NEW), 100 - spent);
    },
  },
  {
    title:
      "charges that race with the deletion of a key that shares their counter take every use once",
    async check(stage) {
      const { successor } = await withRotated(stage.store, 100);
      const taken = await race(stage, 30, async (store, number) => {
        if (number === 9) {
          await store.deleteKey(WORKSPACE, OLD, REMOVAL, NO_CHANGES);
          return 0;
        }
        assert.equal((await store.charge(aPlan(successor, { cost: 2 }))).kind, "charged");
        return 2;
      });
      const spent = taken.reduce<number>((sum, cost) => sum + cost, 0);
      assert.equal(await usesLeft(stage.other, NEW), 100 - spent);
    },
  },
];
