import assert from "node:assert/strict";
import type { ChargeMoment, KeyStore, UsageChange } from "@latchkey/core";
import { it, type StoreContract } from "../../fixtures/context.js";
import {
  anEnd,
  aRefresh,
  aRelease,
  aReservation,
  HELD,
  left,
  reserve,
  settle,
  settleAs,
  sumsOf,
} from "../../fixtures/holds.js";
import { aPlan, chargeAs } from "../../fixtures/plans.js";
import {
  aRecord,
  assertHolds,
  at,
  aUsageChange,
  commit,
  DAY,
  IDENTITY,
  KEY,
  load,
  NOW,
  put,
  putWithUses,
  tryCommit,
  usesOf,
} from "../../fixtures/records.js";

const LONG = { ...HELD, ttl: 90 * DAY };

const hold = (store: KeyStore, number: number, cost: number) =>
  reserve(store, number, aReservation({ cost, hold: LONG }));

type DueRefill = NonNullable<ChargeMoment["refill"]>;

/** A refill that fell due this many ms after NOW. */
function due(amount: number, after: number, carry?: DueRefill["carry"]): DueRefill {
  return { amount, dueAt: NOW + after, ...(carry && { carry }) };
}

/** A refill that adds units for each period that fell due. */
function carried(amount: number, after: number, units: number, since = 0): DueRefill {
  const countedFrom = () => assert.fail("a store counts no refills");
  return due(amount, after, { units, since: NOW + since, countedFrom });
}

const refill = (store: KeyStore, refilled: DueRefill) =>
  settleAs("refreshed", store, aRefresh(at("key"), refilled));

function changing(operation: UsageChange["operation"], fields: Partial<UsageChange> = {}) {
  return [{ ...at("key"), usage: aUsageChange(operation, fields) }];
}

export const usesChangedMeanwhileContracts: readonly StoreContract[] = [
  it("units of a refill while uses were held pay for those that come back", async (store, other) => {
    for (const [had, held, used, expected] of [
      [100, 50, 10, 100],
      [100, 50, 50, 100],
      [500, 50, 10, 490],
      [120, 50, 0, 120],
      [120, 50, 25, 100],
      [149, 50, 30, 119],
    ] as const) {
      await commit(store, { deletes: [KEY] });
      await putWithUses(store, KEY, usesOf(had));
      await hold(store, had + used, held);
      await refill(store, due(100, 1));
      assert.equal(await left(other), Math.max(had - held, 100));
      await settleAs("ended", other, anEnd(had + used, used));
      const usage = usesOf(expected, { refilledAt: NOW + 1 });
      const lastRefillAt = NOW + 1;
      await assertHolds(other, KEY, { usage: { ...usage, lastRefillAt } });
    }
  }),
  it("units of a refill are kept beside the counters until the last of the older holds has ended", async (store, other) => {
    await putWithUses(store, KEY, usesOf(150));
    await hold(store, 1, 60);
    await refill(store, due(100, 1));
    const at1 = { refilledAt: NOW + 1, lastRefillAt: NOW + 1 };
    const held = sumsOf({ nextEnd: NOW + 90 * DAY, uses: 60 });
    const first = { before: 1, free: 0, units: 10 };
    await assertHolds(other, KEY, {
      usage: usesOf(100, { ...at1, holds: { ...held, raises: [first] } }),
    });
    await chargeAs("charged", store, aPlan({ cost: 20 }));
    await hold(store, 2, 30);
    await refill(store, due(100, 2));
    const both = { ...held, uses: 90, open: 2, next: 2 };
    const second = { before: 2, free: 0, units: 50 };
    const at2 = { refilledAt: NOW + 2, lastRefillAt: NOW + 2 };
    await assertHolds(other, KEY, {
      usage: usesOf(100, { ...at2, holds: { ...both, raises: [first, second] } }),
    });
    await settleAs("ended", store, aRelease(1));
    const raises = [first, second].map((raise) => ({ ...raise, units: 0 }));
    await assertHolds(other, KEY, {
      usage: usesOf(100, { ...at2, holds: { ...both, uses: 30, open: 1, raises } }),
    });
    await hold(store, 3, 1);
    // What the first one paid for is past: no hold as old is left.
    await refill(store, due(110, 3));
    assert.deepEqual((await load(other, KEY)).usage?.holds?.raises, [
      raises[1],
      { before: 3, free: 0, units: 11 },
    ]);
    await settleAs("ended", store, aRelease(2));
    assert.equal(await left(other), 129);
    await settleAs("ended", store, aRelease(3));
    assert.equal(await left(other), 130);
    assert.equal((await load(other, KEY)).usage?.holds, undefined);
  }),
  it("a refill that brings nothing costs nothing, and one that was applied is not applied again", async (store, other) => {
    await putWithUses(store, KEY, usesOf(100));
    await hold(store, 1, 40);
    await refill(store, due(60, 1));
    assert.deepEqual((await load(other, KEY)).usage?.holds?.raises, []);
    await refill(store, due(90, 1));
    await refill(store, due(90, 0));
    await settleAs("ended", store, aRelease());
    assert.equal(await left(other), 100);
  }),
  it("a refill that carries over leaves room for what comes back up to its bound", async (store, other) => {
    for (const [number, had, held, cap, units, expected] of [
      [1, 10, 4, 12, 5, 12],
      [2, 10, 4, 20, 5, 15],
      [3, 10, 4, 9, 5, 10],
      [4, 10, 9, 8, 5, 10],
      [5, 10, 9, 11, 5, 11],
      [6, 2, 2, 5, 9, 5],
    ] as const) {
      await commit(store, { deletes: [KEY] });
      await putWithUses(store, KEY, usesOf(had));
      await hold(store, number, held);
      await refill(store, carried(cap, 1, units, 1));
      assert.equal(await left(other), had - held);
      await refill(store, carried(cap, 1, units));
      assert.equal(await left(other), Math.max(had - held, Math.min(cap, had - held + units)));
      await settleAs("ended", store, aRelease(number));
      assert.equal(await left(other), expected, `${number}`);
    }
  }),
  it("a refill that is applied with a change, or comes with a refresh that ends something, counts what is held", async (store, other) => {
    await putWithUses(store, KEY, usesOf(100));
    await hold(store, 1, 50);
    await reserve(store, 2, aReservation({ cost: 20 }));
    const change = changing({ kind: "increment", by: 1 }, { due: due(100, 1) });
    const [usage] = await commit(store, { counters: change });
    assert.deepEqual(usage?.holds?.raises, [{ before: 2, free: 0, units: 70 }]);
    assert.equal(await left(other), 101);
    const step = aRefresh(at("key"), due(110, 2));
    await settle(store, step, NOW + DAY);
    // 20 came back and paid, before nine more were brought.
    assert.deepEqual((await load(other, KEY)).usage?.holds?.raises, [
      { before: 2, free: 0, units: 50 },
      { before: 2, free: 0, units: 9 },
    ]);
    await settleAs("ended", store, aRelease(1));
    assert.equal(await left(other), 110);
  }),
  it("once uses were set nothing of earlier holds comes back, and of later ones everything does", async (store, other) => {
    await putWithUses(store, KEY, usesOf(100));
    await hold(store, 1, 50);
    await refill(store, due(100, 1));
    await commit(store, { counters: changing({ kind: "set", remaining: 70 }) });
    const holds = sumsOf({ nextEnd: NOW + 90 * DAY, setBefore: 1 });
    const at1 = { refilledAt: NOW + 1, lastRefillAt: NOW + 1 };
    await assertHolds(other, KEY, { usage: usesOf(70, { ...at1, holds }) });
    await hold(store, 2, 30);
    const { usage, used } = await settleAs("ended", store, anEnd(1, 5));
    assert.deepEqual([usage?.remaining, used.uses], [40, 5]);
    await settleAs("ended", store, aRelease(2));
    assert.equal(await left(other), 70);
  }),
  it("uses that became unlimited meanwhile stay so, and those that were get nothing back when they are counted again", async (store, other) => {
    await putWithUses(store, KEY, usesOf(100));
    await hold(store, 1, 50);
    await commit(store, { counters: changing({ kind: "set", remaining: null }) });
    await hold(store, 2, 50);
    const { usage } = await settleAs("ended", store, aRelease(1));
    assert.equal(usage, null);
    await commit(store, { counters: changing({ kind: "set", remaining: 7 }) });
    await settleAs("ended", store, aRelease(2));
    await assertHolds(other, KEY, { usage: usesOf(7) });
  }),
  it("uses that are held cannot be taken away, and count towards the largest number", async (store, other) => {
    const all = Number.MAX_SAFE_INTEGER;
    await putWithUses(store, KEY, usesOf(all - 5));
    await hold(store, 1, 10);
    const tooMuch = await tryCommit(store, { counters: changing({ kind: "increment", by: 6 }) });
    const reason = { kind: "overflow", remaining: all - 15 };
    assert.deepEqual(tooMuch, { kind: "refused", index: 0, reason });
    await commit(store, { counters: changing({ kind: "increment", by: 5 }) });
    await settleAs("ended", store, aRelease(1));
    assert.equal(await left(other), all);
    await hold(store, 2, all - 3);
    const insufficient = await tryCommit(store, {
      counters: changing({ kind: "decrement", by: 4 }),
    });
    assert.equal(insufficient.kind, "refused");
    await commit(store, { counters: changing({ kind: "decrement", by: 3 }) });
    await settleAs("ended", store, aRelease(2));
    assert.equal(await left(other), all - 3);
  }),
  it("a restart of refills leaves what is held as it is", async (store, other) => {
    await putWithUses(store, KEY, usesOf(100));
    await hold(store, 1, 50);
    await commit(store, { counters: changing({ kind: "keep" }, { restartsAt: NOW + 9 }) });
    const holds = sumsOf({ nextEnd: NOW + 90 * DAY, uses: 50 });
    await assertHolds(other, KEY, { usage: usesOf(50, { refilledAt: NOW + 9, holds }) });
    await settleAs("ended", store, aRelease());
    assert.equal(await left(other), 100);
  }),
  it("changes of shared counters, through any record that has them, count for what is held by the others", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    await hold(store, 1, 4);
    await commit(store, {
      puts: [{ record: aRecord("key", 2), counters: { sharedWith: KEY.id } }],
    });
    const usage = aUsageChange({ kind: "set", remaining: 3 });
    await commit(store, { counters: [{ ...at("key", 2), usage }] });
    await settleAs("ended", other, aRelease(1));
    assert.equal(await left(other), 3);
  }),
  it("several changes of one commit to counters beside which something is held follow each other", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    await hold(store, 1, 4);
    const usages = await commit(store, {
      counters: [
        ...changing({ kind: "set", remaining: 3 }),
        ...changing({ kind: "increment", by: 2 }),
      ],
    });
    assert.deepEqual(
      usages.map(({ remaining, holds }) => [remaining, holds?.setBefore]),
      [
        [3, 1],
        [5, 1],
      ],
    );
    await settleAs("ended", other, aRelease(1));
    assert.equal(await left(other), 5);
  }),
  it("sums that a copied record brings are read as they were written, until they are settled", async (store, other) => {
    const raises = [{ before: 3, free: 1, units: 2 }];
    const drops = [
      { before: 4, windows: ["60000:one", "a:key_1:s1000:b%20c"], isKept: true },
      { before: 5, windows: [], isKept: true },
      { before: 6, windows: ["c9:x"], isKept: false },
    ];
    const holds = { nextEnd: NOW + DAY, open: 3, uses: 9, next: 7, setBefore: 2, raises, drops };
    await put(store, IDENTITY);
    await putWithUses(store, KEY, usesOf(10, { holds }));
    await assertHolds(other, KEY, { usage: usesOf(10, { holds }) });
    await chargeAs("unsettled", other, aPlan(), { now: NOW + DAY });
    await reserve(store, 1, aReservation({ cost: 4, hold: LONG }));
    const more = { ...holds, open: 4, uses: 13, next: 8 };
    await assertHolds(other, KEY, { usage: usesOf(6, { holds: more }) });
    await chargeAs("unsettled", other, aPlan(), { now: NOW + DAY });
  }),
];
