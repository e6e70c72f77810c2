import assert from "node:assert/strict";
import { NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aKeyLimit,
  aKeyWithUses,
  aNewKey,
  aPlan,
  aUsageChange,
  DAY_MS,
  idOf,
  NOW,
  takeFrom,
  WORKSPACE,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { assertSameKey, load, usesLeft, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const KEY_ID = idOf("key", 1);
const DUE = { amount: 10, dueAt: NOW + DAY_MS };
const LATER = NOW + DAY_MS + 1;

export const refillPromises: readonly StorePromise[] = [
  {
    title: "a refill that is owed is settled by the charge that finds it",
    async check({ store, other }) {
      const loaded = await withKeys(store, aKeyWithUses(0));
      const result = await store.charge(aPlan(loaded, { now: LATER, refill: DUE }));
      assert.deepEqual(result, { kind: "charged", remaining: 9, limits: [] });
      assert.deepEqual((await load(other)).usage, { remaining: 9, refilledAt: DUE.dueAt });
    },
  },
  {
    title: "a refill is settled once, however many charges find it at once",
    async check(stage) {
      const loaded = await withKeys(stage.store, aKeyWithUses(3));
      const plan = aPlan(loaded, { now: LATER, refill: DUE });
      const results = await race(stage, 30, (store) => store.charge(plan));
      assert.deepEqual(tally(results.map(({ kind }) => kind)), {
        charged: 10,
        "usage-exceeded": 20,
      });
      assert.equal((await stage.store.charge(plan)).kind, "usage-exceeded");
      assert.deepEqual((await load(stage.store)).usage, { remaining: 0, refilledAt: DUE.dueAt });
    },
  },
  {
    title: "a refill that was settled before is not owed again",
    async check({ store }) {
      const loaded = await withKeys(store, aKeyWithUses(3));
      for (const dueAt of [NOW, NOW - DAY_MS]) {
        await store.charge(aPlan(loaded, { refill: { amount: 10, dueAt } }));
      }
      assert.deepEqual((await load(store)).usage, { remaining: 1, refilledAt: NOW });
    },
  },
  {
    title: "a refill never lowers what is left, and what was missed does not add up",
    async check({ store }) {
      const loaded = await withKeys(store, aKeyWithUses(25));
      await store.charge(aPlan(loaded, { now: LATER, refill: DUE, cost: 20 }));
      assert.deepEqual((await load(store)).usage, { remaining: 5, refilledAt: DUE.dueAt });
      const muchLater = { amount: 10, dueAt: NOW + 30 * DAY_MS };
      await store.charge(aPlan(loaded, { now: muchLater.dueAt, refill: muchLater }));
      assert.equal(await usesLeft(store), 9);
    },
  },
  {
    title: "a key without a limit on uses is never refilled",
    async check({ store }) {
      const loaded = await withKeys(store, aNewKey());
      await store.charge(aPlan(loaded, { now: LATER, refill: DUE }));
      assertSameKey(await load(store), loaded);
    },
  },
  {
    title: "a refused charge shows the refill that is owed and does not settle it",
    async check({ store }) {
      const limit = aKeyLimit("default", 1);
      const key = aKey(1, { ratelimits: [limit] });
      const loaded = await withKeys(
        store,
        aNewKey(key, { usage: { remaining: 2, refilledAt: NOW } }),
      );
      const tooMuch = await store.charge(aPlan(loaded, { now: LATER, refill: DUE, cost: 11 }));
      assert.deepEqual(tooMuch, { kind: "usage-exceeded", remaining: 10, limits: [] });
      const limits = [takeFrom("key", limit, 2)];
      const tooFast = await store.charge(aPlan(loaded, { now: LATER, refill: DUE, limits }));
      assert.equal(tooFast.kind, "rate-limited");
      assert.equal(tooFast.remaining, 10);
      assert.deepEqual((await load(store)).usage, { remaining: 2, refilledAt: NOW });
    },
  },
  {
    title: "a charge that costs nothing settles the refill that is owed",
    async check({ store }) {
      const loaded = await withKeys(store, aKeyWithUses(0));
      await store.charge(aPlan(loaded, { now: LATER, refill: DUE, cost: 0 }));
      assert.deepEqual((await load(store)).usage, { remaining: 10, refilledAt: DUE.dueAt });
    },
  },
  {
    title: "a refill found by charges and changes of uses at once is settled once",
    async check(stage) {
      const loaded = await withKeys(stage.store, aKeyWithUses(0));
      const usage = aUsageChange({ kind: "increment", by: 1 }, { due: DUE, settledAt: LATER });
      await race<unknown>(stage, 10, (store, number) =>
        number % 2 === 0
          ? store.charge(aPlan(loaded, { now: LATER, refill: DUE }))
          : store.updateKey(WORKSPACE, KEY_ID, 1, { usage }, NO_CHANGES),
      );
      assert.equal(await usesLeft(stage.store), 10);
    },
  },
];
