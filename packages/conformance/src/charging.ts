import assert from "node:assert/strict";
import type { ChargePlan, ChargeResult } from "@latchkey/core";
import {
  aKey,
  aKeyLimit,
  aKeyWithUses,
  aNewKey,
  anIdentity,
  aPlan,
  aSharedLimit,
  NOW,
  takeAdHoc,
  takeFrom,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { assertSameKey, load, usesLeft, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const WIDE = aKeyLimit("default", 100);
const NARROW = aSharedLimit("requests", 2);

/** A key with 50 uses, a wide limit of its own and a narrow one of its identity. */
const LIMITED = aNewKey(aKey(1, { ratelimits: [WIDE] }), {
  usage: { remaining: 50, refilledAt: NOW },
  identity: anIdentity(1, { ratelimits: [NARROW] }),
});

function kinds(results: readonly ChargeResult[]): Readonly<Record<string, number>> {
  return tally(results.map(({ kind }) => kind));
}

export const chargingPromises: readonly StorePromise[] = [
  {
    title: "a use takes its cost and answers what is left",
    async check({ store, other }) {
      const loaded = await withKeys(store, aKeyWithUses(10));
      const result = await store.charge(aPlan(loaded, { cost: 3 }));
      assert.deepEqual(result, { kind: "charged", remaining: 7, limits: [] });
      assert.equal(await usesLeft(other), 7);
    },
  },
  {
    title: "of many parallel uses exactly as many are taken as are left",
    async check(stage) {
      const loaded = await withKeys(stage.store, aKeyWithUses(7));
      const results = await race(stage, 40, (store) => store.charge(aPlan(loaded)));
      assert.deepEqual(kinds(results), { charged: 7, "usage-exceeded": 33 });
      const left = results.flatMap((result) =>
        result.kind === "charged" ? [result.remaining ?? -1] : [],
      );
      assert.deepEqual(left.sort(), [0, 1, 2, 3, 4, 5, 6]);
      assert.equal(await usesLeft(stage.store), 0);
    },
  },
  {
    title: "parallel uses of different costs follow one after the other in some order",
    async check(stage) {
      const loaded = await withKeys(stage.store, aKeyWithUses(60));
      const costs = Array.from({ length: 40 }, (_, number) => 1 + ((number * 7) % 5));
      const results = await race(stage, costs.length, (store, number) =>
        store.charge(aPlan(loaded, { cost: costs[number] as number })),
      );
      let left = 60;
      const taken = results
        .map((result, number) => ({ result, cost: costs[number] as number }))
        .filter(({ result }) => result.kind === "charged")
        .map(({ result, cost }) => ({ cost, remaining: remainingOf(result) }))
        .sort((one, two) => two.remaining - one.remaining);
      const standings = new Set([left]);
      for (const { cost, remaining } of taken) {
        left -= cost;
        assert.equal(remaining, left);
        standings.add(left);
      }
      assert.equal(await usesLeft(stage.store), left);
      for (const [number, result] of results.entries()) {
        if (result.kind === "charged") continue;
        assert.equal(result.kind, "usage-exceeded");
        assert.ok(standings.has(remainingOf(result)), "a refusal shows a count that never was");
        assert.ok(
          remainingOf(result) < (costs[number] as number),
          "refused although enough was left",
        );
      }
    },
  },
  {
    title: "a cost above what is left is refused and takes nothing",
    async check({ store }) {
      const loaded = await withKeys(store, aKeyWithUses(3));
      const result = await store.charge(aPlan(loaded, { cost: 4 }));
      assert.deepEqual(result, { kind: "usage-exceeded", remaining: 3, limits: [] });
      assert.equal(await usesLeft(store), 3);
      assert.equal((await store.charge(aPlan(loaded, { cost: 3 }))).kind, "charged");
    },
  },
  {
    title: "a cost of 0 takes nothing, and is refused when no use is left",
    async check({ store }) {
      const loaded = await withKeys(store, aKeyWithUses(1));
      const free = aPlan(loaded, { cost: 0 });
      assert.deepEqual(await store.charge(free), { kind: "charged", remaining: 1, limits: [] });
      await store.charge(aPlan(loaded));
      assert.deepEqual(await store.charge(free), {
        kind: "usage-exceeded",
        remaining: 0,
        limits: [],
      });
    },
  },
  {
    title: "a key without a limit on uses is charged for ever",
    async check({ store }) {
      const loaded = await withKeys(store, aNewKey());
      const result = await store.charge(aPlan(loaded, { cost: Number.MAX_SAFE_INTEGER }));
      assert.deepEqual(result, { kind: "charged", remaining: null, limits: [] });
    },
  },
  {
    title: "a limit that refuses leaves the uses and every other limit untouched",
    async check({ store }) {
      const loaded = await withKeys(store, LIMITED);
      const limits = [
        takeFrom("key", WIDE),
        takeFrom("identity", NARROW, 2),
        takeAdHoc(WIDE_AD_HOC),
      ];
      assert.equal((await store.charge(aPlan(loaded, { limits }))).kind, "charged");
      for (const order of [limits, limits.toReversed()]) {
        const result = await store.charge(aPlan(loaded, { limits: order }));
        assert.equal(result.kind, "rate-limited");
        const readings = result.limits.map(({ name, remaining, exceeded }) => [
          name,
          remaining,
          exceeded,
        ]);
        const expected = [
          ["default", 99, false],
          ["requests", 0, true],
          ["burst", 99, false],
        ];
        assert.deepEqual(readings, order === limits ? expected : expected.toReversed());
      }
      assert.equal(await usesLeft(store), 49);
    },
  },
  {
    title: "uses that do not suffice leave every limit untouched",
    async check({ store }) {
      const loaded = await withKeys(store, LIMITED);
      const limits = [takeFrom("key", WIDE), takeFrom("identity", NARROW), takeAdHoc(WIDE_AD_HOC)];
      const result = await store.charge(aPlan(loaded, { cost: 51, limits }));
      assert.equal(result.kind, "usage-exceeded");
      assert.deepEqual(
        await unitsLeft(store.charge(aPlan(loaded, { mode: "look", limits }))),
        [99, 1, 99],
      );
    },
  },
  {
    title: "parallel charges over uses and several limits take all of them or none",
    async check(stage) {
      const loaded = await withKeys(stage.store, LIMITED);
      const tight = takeAdHoc({ name: "tight", limit: 5, durationMs: 60_000 });
      const limits = [takeFrom("key", WIDE, 3), tight];
      const results = await race(stage, 30, (store) =>
        store.charge(aPlan(loaded, { cost: 2, limits })),
      );
      assert.deepEqual(kinds(results), { charged: 5, "rate-limited": 25 });
      assert.equal(await usesLeft(stage.store), 40);
      const look = aPlan(loaded, {
        mode: "look",
        cost: 0,
        limits: limits.map((limit) => ({ ...limit, cost: 0 })),
      });
      assert.deepEqual(await unitsLeft(stage.store.charge(look)), [85, 0]);
    },
  },
  {
    title: "a look answers as a charge would and writes nothing",
    async check({ store }) {
      const loaded = await withKeys(store, LIMITED);
      const plan: ChargePlan = aPlan(loaded, {
        mode: "look",
        cost: 5,
        refill: { amount: 90, dueAt: NOW + 1 },
        limits: [takeFrom("key", WIDE), takeFrom("identity", NARROW)],
      });
      const first = await store.charge(plan);
      assert.equal(first.kind, "charged");
      assert.equal(first.remaining, 85);
      assert.deepEqual(await store.charge(plan), first);
      assertSameKey(await load(store), loaded);
    },
  },
  {
    title: "a charge on another version of the key, the identity or the workspace takes nothing",
    async check({ store }) {
      const loaded = await withKeys(store, LIMITED);
      const { expects } = aPlan(loaded);
      const moved = [
        { ...expects, keyVersion: expects.keyVersion + 1 },
        { ...expects, keyVersion: expects.keyVersion - 1 },
        { ...expects, identityVersion: 2 },
        { ...expects, identityVersion: null },
        { ...expects, epoch: expects.epoch + 1 },
      ];
      for (const mode of ["take", "look"] as const) {
        for (const other of moved) {
          assert.deepEqual(await store.charge(aPlan(loaded, { expects: other, mode })), {
            kind: "stale",
          });
        }
      }
      assertSameKey(await load(store), loaded);
    },
  },
  {
    title:
      "a charge finds its key with the handle it was loaded with, with another process' and with none",
    async check({ store, other }) {
      const loaded = await withKeys(store, aKeyWithUses(9));
      for (const handle of [loaded.handle, (await load(other)).handle, undefined]) {
        assert.equal((await store.charge(aPlan(loaded, { handle }))).kind, "charged");
        assert.equal((await other.charge(aPlan(loaded, { handle }))).kind, "charged");
      }
      assert.equal(await usesLeft(store), 3);
    },
  },
  {
    title: "a charge of a key that does not exist is stale",
    async check({ store }) {
      const loaded = await withKeys(store, aKeyWithUses(1));
      assert.deepEqual(await store.charge(aPlan(loaded, { keyId: "key_unknown" })), {
        kind: "stale",
      });
    },
  },
  {
    title: "a charge does not change the record of the key",
    async check({ store }) {
      const loaded = await withKeys(store, LIMITED);
      await store.charge(
        aPlan(loaded, { limits: [takeFrom("key", WIDE), takeFrom("identity", NARROW)] }),
      );
      const after = await load(store);
      assertSameKey(after, { ...loaded, usage: { ...loaded.usage, remaining: 49 } });
    },
  },
];

const WIDE_AD_HOC = { name: "burst", limit: 100, durationMs: 1_000 };

function remainingOf(result: ChargeResult): number {
  assert.ok("remaining" in result && result.remaining !== null);
  return result.remaining;
}

async function unitsLeft(charge: Promise<ChargeResult>): Promise<readonly number[]> {
  const result = await charge;
  assert.ok("limits" in result);
  return result.limits.map(({ remaining }) => remaining);
}
