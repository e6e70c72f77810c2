import assert from "node:assert/strict";
import { it, type StoreContract } from "../../fixtures/context.js";
import {
  aHeldLimit,
  anEnd,
  aRelease,
  aReservation,
  aSlotLimit,
  BOTH,
  ENDS,
  HELD,
  heldIds,
  holdId,
  left,
  reserve,
  settleAs,
  sumsOf,
} from "../../fixtures/holds.js";
import { aPlan, charge, chargeAs, usedOf } from "../../fixtures/plans.js";
import {
  assertHolds,
  IDENTITY,
  KEY,
  NOW,
  putWithUses,
  revisionOf,
  usesOf,
} from "../../fixtures/records.js";

export const endingChargeContracts: readonly StoreContract[] = [
  it("a charge ends a hold before it takes anything, and a repeated end has no effect", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    const limit = aHeldLimit({ limit: 10, cost: 8 });
    await reserve(store, 1, aReservation({ cost: 9, limits: [limit] }));
    const next = aReservation({ cost: 7, limits: [{ ...limit, cost: 6 }] });
    const ends = anEnd(1, 2, { default: 4 });
    for (const number of [2, 3]) {
      const step = { ends, holdId: holdId(number), now: NOW + number };
      const { kind } = await charge(other, next, step);
      assert.equal(kind, number === 2 ? "charged" : "rate-limited");
      assert.deepEqual(await heldIds(store), [holdId(2)]);
      const holds = sumsOf({ nextEnd: ENDS + 2, uses: 7 });
      await assertHolds(store, KEY, { usage: usesOf(1, { holds }) });
      assert.equal(await usedOf(store, { window: "60000:default" }), 10);
    }
    await settleAs("conflict", store, anEnd(1, 2, { default: 3 }), NOW + 9);
    const { isRepeat, endedAt } = await settleAs("ended", store, ends, NOW + 9);
    assert.deepEqual([isRepeat, endedAt], [true, NOW + 2]);
  }),
  it("a charge takes one step of an end, which may first end holds that are over", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    await reserve(store, 1, aReservation({ cost: 5 }));
    await reserve(store, 2, aReservation({ cost: 1, hold: { ...HELD, ttl: 1 } }));
    for (const held of [[holdId(1)], []]) {
      // Without a handle: a store may have to look for the counters first.
      await chargeAs("charged", other, aPlan({ cost: 0 }), { ends: anEnd(1, 2), now: NOW + 5 });
      assert.deepEqual(await heldIds(store), held);
    }
    await assertHolds(store, KEY, { usage: usesOf(8) });
  }),
  it("a charge ends a hold even if it is refused for its uses, for open holds or as stale", async (store, other) => {
    await putWithUses(store, KEY, usesOf(11));
    const revision = await revisionOf(store);
    await reserve(store, 8);
    const plans = [
      [aPlan({ cost: 11 }), "usage-exceeded"],
      [aReservation({ hold: { ...HELD, most: [1] } }), "too-many-holds"],
      [aPlan({ confirms: [{ ...KEY, version: 99 }] }), "stale"],
      [aPlan({ revision }), "charged"],
    ] as const;
    for (const [index, [plan, kind]] of plans.entries()) {
      await reserve(store, index, aReservation({ cost: 3 }));
      const step = { ends: anEnd(index, 1), holdId: holdId(9) };
      assert.equal((await charge(other, plan, step)).kind, kind);
      assert.deepEqual(await heldIds(store), [holdId(8)]);
      assert.equal(await left(store), kind === "charged" ? 5 : 9 - index);
    }
  }),
  it("the end of a hold of no uses, or of slots alone, says how many uses are left", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    const slots = aReservation({
      ...{ cost: 3, limits: [aSlotLimit()] },
      hold: { ...HELD, keeps: "slots", slotTtl: 30_000 },
    });
    const shared = { confirms: BOTH, hold: { ...HELD, most: [9, 9] }, cost: 0 };
    await putWithUses(store, IDENTITY, usesOf(20));
    for (const [number, plan, left] of [
      [1, aReservation({ cost: 0 }), 10],
      [2, slots, 7],
      [3, aReservation({ ...shared, uses: 1 }), 20],
    ] as const) {
      await reserve(store, number, plan);
      for (const isRepeat of [false, true]) {
        const end = await settleAs("ended", other, aRelease(number));
        assert.deepEqual([end.isRepeat, end.usage?.remaining], [isRepeat, left]);
      }
    }
  }),
  it("a charge that finds another revision ends no hold, and an unknown hold is passed over", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    const revision = await revisionOf(store);
    await reserve(store, 1, aReservation({ cost: 3 }));
    const ends = anEnd(1, 1);
    const stale = await charge(other, aPlan({ revision: revision + 1 }), { ends });
    assert.deepEqual(stale, { kind: "stale", moved: "revision" });
    assert.deepEqual(await heldIds(store), [holdId(1)]);
    for (const wrong of [anEnd(7), anEnd(1, 4), anEnd(1, 1, { others: 1 })]) {
      const { kind } = await charge(other, aPlan({ revision }), { ends: wrong });
      assert.equal(kind, "charged");
      assert.deepEqual(await heldIds(store), [holdId(1)]);
    }
    assert.equal(await left(store), 4);
  }),
  it("a charge gives back to the counters of an identity, and to windows of the workspace", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    await putWithUses(store, IDENTITY, usesOf(20));
    const limits = [aHeldLimit({ owner: null, cost: 4 }), aHeldLimit({ name: "others", owner: 1 })];
    const hold = { ...HELD, most: [9, 9] };
    const plan = aReservation({ confirms: BOTH, cost: 5, uses: 1, limits, hold });
    await reserve(store, 1, plan);
    const step = { ends: aRelease(1), holdId: holdId(2) };
    await chargeAs("charged", other, plan, step);
    assert.equal(await left(store, IDENTITY), 15);
    assert.equal(await usedOf(store, { window: "60000:default", owner: null }), 4);
    assert.deepEqual(await heldIds(store, IDENTITY), [holdId(2)]);
  }),
];
