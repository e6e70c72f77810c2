import assert from "node:assert/strict";
import type { KeyStore } from "@latchkey/core";
import { it, type StoreContract } from "../../fixtures/context.js";
import {
  aHeldLimit,
  anEnd,
  aRefresh,
  aRelease,
  aReservation,
  aSlotLimit,
  aSlotPlan,
  HELD,
  heldIds,
  holdId,
  holdsOf,
  idsOf,
  reserve,
  room,
  settleAs,
  sumsOf,
} from "../../fixtures/holds.js";
import { aPlan, charge, chargeAs, leftOfLimits } from "../../fixtures/plans.js";
import { countByKind, race } from "../../fixtures/race.js";
import {
  aRecord,
  assertHolds,
  at,
  atFirst,
  commit,
  IDENTITY,
  KEY,
  load,
  MINUTE,
  NOW,
  putWithUses,
  usesOf,
} from "../../fixtures/records.js";

const HALF = MINUTE / 2;
/** A hold of everything for a minute, and of slots for half of that. */
const BOTH = { ...HELD, slotTtl: HALF };

/** How many slots of five are free. */
const free = (store: KeyStore, now = NOW, limit = aSlotLimit()) => room(store, limit, now);

export const slotContracts: readonly StoreContract[] = [
  it("slots are held until they are given back, however long that takes", async (store, other) => {
    await putWithUses(store, KEY, usesOf(9));
    const long = aSlotPlan({ limits: [aSlotLimit({ duration: 1_000, cost: 3 })] });
    await reserve(store, 1, long);
    const refused = await chargeAs("rate-limited", other, long, { now: NOW + MINUTE - 1 });
    assert.deepEqual(refused.limits[0]?.remaining, 2);
    assert.equal(await free(other, NOW - MINUTE, aSlotLimit({ duration: 1_000 })), 2);
    await settleAs("ended", store, anEnd());
    assert.equal(await free(other, NOW, aSlotLimit({ duration: 1_000 })), 5);
  }),
  it("a plan that holds slots alone takes the rest for good", async (store, other) => {
    await putWithUses(store, KEY, usesOf(9));
    const limits = [aHeldLimit({ cost: 2 }), aSlotLimit({ cost: 2 })];
    const plan = aSlotPlan({ cost: 4, uses: 0, limits });
    const { hold, remaining } = await reserve(store, 1, plan);
    assert.deepEqual([hold, remaining], [{ id: holdId(), expiresAt: NOW + MINUTE }, 5]);
    const [slots, ...more] = await holdsOf(other);
    const held = { window: "c60000:parallel", owner: 0, units: 2, at: NOW, rate: 0 };
    assert.deepEqual([slots?.uses, slots?.usesOf, slots?.limits, more], [0, 0, [held], []]);
    await assertHolds(other, KEY, { usage: usesOf(5, { holds: sumsOf() }) });
    const { used, usage } = await settleAs("ended", store, aRelease());
    assert.deepEqual([used, usage?.remaining], [{ uses: 0, limits: [0] }, 5]);
    await assertHolds(other, KEY, { usage: usesOf(5) });
    const looked = await chargeAs("charged", other, aPlan({ mode: "peek", limits }));
    assert.deepEqual(leftOfLimits(looked), [6, 3]);
  }),
  it("a plan that holds all holds slots apart, for their own time, and never for longer", async (store, other) => {
    await putWithUses(store, KEY, usesOf(9));
    const limits = [aSlotLimit({ cost: 2 }), aHeldLimit()];
    await reserve(store, 1, aReservation({ limits, hold: BOTH }));
    await reserve(store, 2, aReservation({ limits, hold: { ...HELD, slotTtl: 9 * MINUTE } }));
    const holds = await holdsOf(other);
    const told = holds.map(({ id, expiresAt, ttl, uses, numbers, limits: held }) => [
      ...[id, expiresAt - NOW, ttl, uses, numbers[0]],
      held.map(({ window, units }) => `${window} ${units}`).join(),
    ]);
    assert.deepEqual(told, [
      [holdId(1), MINUTE, MINUTE, 1, 0, "60000:default 1"],
      [`${holdId(1)}.s`, HALF, HALF, 0, 1, "c60000:parallel 2"],
      [holdId(2), MINUTE, MINUTE, 1, 2, "60000:default 1"],
      [`${holdId(2)}.s`, MINUTE, MINUTE, 0, 3, "c60000:parallel 2"],
    ]);
    const sums = sumsOf({ nextEnd: NOW + HALF, open: 2, next: 4, uses: 2 });
    await assertHolds(other, KEY, { usage: usesOf(7, { holds: sums }) });
  }),
  it("C1: of N that ask for slots at once exactly as many get them as there are", async (store, other) => {
    await putWithUses(store, KEY);
    const answers = await race({ store, other }, 20, (each, number) =>
      charge(each, aSlotPlan(), { holdId: holdId(number) }),
    );
    assert.deepEqual(countByKind(answers), { charged: 5, "rate-limited": 15 });
    assert.equal(await free(other), 0);
  }),
  it("C2: slots are free for the next caller once they were given back", async (store, other) => {
    await putWithUses(store, KEY);
    const one = aSlotPlan({ limits: [aSlotLimit({ limit: 1 })] });
    for (let number = 1; number <= 20; number += 1) {
      const [first, second] = number % 2 ? [store, other] : [other, store];
      await reserve(first, number, one);
      await chargeAs("rate-limited", second, one, { holdId: holdId(99) });
      await settleAs("ended", second, aRelease(number));
    }
  }),
  it("C3: slots are free from the end of their time on, and are given back once", async (store, other) => {
    await putWithUses(store, KEY, usesOf(9));
    // Here slots last as long as the hold that they came with.
    const limits = [aSlotLimit({ cost: 2 }), aHeldLimit()];
    for (const number of [1, 2])
      await reserve(store, number, aReservation({ limits, hold: { ...HELD, slotTtl: MINUTE } }), {
        now: NOW + number,
      });
    const at1 = NOW + 1 + MINUTE;
    await chargeAs("unsettled", other, aSlotPlan(), { now: at1 });
    const { expired } = await settleAs("refreshed", other, aRefresh(), at1);
    assert.deepEqual(idsOf(expired), [holdId(1), `${holdId(1)}.s`]);
    assert.equal(await free(other, at1), 3);
    await settleAs("expired", store, aRelease(2), at1 + 1);
    assert.equal(await free(other, at1 + 1), 5);
    await assertHolds(other, KEY, { usage: usesOf(9) });
  }),
  it("C4: a refusal by another limit, or for uses, takes no slot", async (store, other) => {
    await putWithUses(store, KEY, usesOf(1));
    const full = aHeldLimit({ cost: 11 });
    for (const limits of [
      [aSlotLimit(), full],
      [full, aSlotLimit()],
    ])
      await chargeAs("rate-limited", store, aSlotPlan({ limits }), { holdId: holdId() });
    await chargeAs("usage-exceeded", store, aSlotPlan({ uses: 0, cost: 2 }), {
      holdId: holdId(),
    });
    await chargeAs("rate-limited", store, aSlotPlan({ limits: [aSlotLimit({ cost: 6 })] }));
    assert.equal(await free(other), 5);
    assert.deepEqual(await heldIds(other), []);
  }),
  it("a hold outlasts its slots, and is settled without them", async (store, other) => {
    await putWithUses(store, KEY, usesOf(9));
    const limits = [aSlotLimit({ cost: 2 }), aHeldLimit({ cost: 4 })];
    await reserve(store, 1, aReservation({ cost: 3, limits, hold: BOTH }));
    const now = NOW + HALF;
    const { expired } = await settleAs("refreshed", store, aRefresh(), now);
    assert.deepEqual(idsOf(expired), [`${holdId()}.s`]);
    await assertHolds(other, KEY, { usage: usesOf(6, { holds: sumsOf({ uses: 3, next: 2 }) }) });
    assert.equal(await free(other, now), 5);
    const { used } = await settleAs("ended", other, anEnd(1, 1, { default: 2 }), now);
    assert.deepEqual(used, { uses: 1, limits: [2] });
    assert.equal(await free(other, now), 5);
    await assertHolds(other, KEY, { usage: usesOf(8) });
  }),
  it("an end gives all slots back, and cannot name them", async (store, other) => {
    await putWithUses(store, KEY, usesOf(9));
    const limits = [aSlotLimit({ cost: 2 }), aHeldLimit({ cost: 4 })];
    await reserve(store, 1, aReservation({ limits, hold: BOTH }));
    await settleAs("unnamed", store, anEnd(1, null, { parallel: 1 }));
    assert.equal(await free(other), 3);
    await settleAs("ended", other, anEnd(1));
    assert.equal(await free(other), 5);
    assert.deepEqual(await heldIds(other), []);
  }),
  it("slots are renewed with what they came with, for no longer than their limits say", async (store, other) => {
    await putWithUses(store, KEY, usesOf(9));
    const limits = [aSlotLimit({ duration: HALF }), aHeldLimit()];
    await reserve(store, 1, aReservation({ limits, hold: BOTH }));
    const renew = async (ttl: number | null, now: number) => {
      const { hold } = await settleAs("renewed", store, { kind: "renew", id: holdId(), ttl }, now);
      const ends = (await holdsOf(other)).map(({ expiresAt }) => expiresAt - now);
      assert.equal(hold.expiresAt - now, ends[0]);
      assert.equal((await load(other, KEY)).usage?.holds?.nextEnd, now + Math.min(...ends));
      return ends;
    };
    assert.deepEqual(await renew(null, NOW + 1_000), [MINUTE, HALF]);
    assert.deepEqual(await renew(9 * MINUTE, NOW + 2_000), [9 * MINUTE, HALF]);
    assert.deepEqual(await renew(7_000, NOW + 3_000), [7_000, 7_000]);
    assert.deepEqual(await renew(null, NOW + 4_000), [MINUTE, HALF]);
  }),
  it("slots that are over are not renewed, and free from then on", async (store, other) => {
    await putWithUses(store, KEY, usesOf(9));
    const limits = [aSlotLimit({ cost: 2 })];
    await reserve(store, 1, aReservation({ limits, hold: BOTH }));
    const now = NOW + HALF;
    await settleAs("renewed", store, { kind: "renew", id: holdId(), ttl: null }, now);
    assert.deepEqual(await heldIds(other), [holdId()]);
    assert.equal(await free(other, now), 5);
    const holds = sumsOf({ nextEnd: now + MINUTE, uses: 1, next: 2 });
    await assertHolds(other, KEY, { usage: usesOf(8, { holds }) });
  }),
  it("slots of a limit that was emptied are not given back again", async (store, other) => {
    await putWithUses(store, KEY);
    await reserve(store, 1, aSlotPlan());
    await commit(store, { counters: [{ ...at("key"), dropWindows: ["c60000:parallel"] }] });
    assert.equal(await free(other), 5);
    await reserve(store, 2, aSlotPlan());
    await settleAs("ended", store, aRelease(1));
    assert.equal(await free(other), 4);
    await settleAs("ended", store, aRelease(2));
    assert.equal(await free(other), 5);
  }),
  it("slots of an identity are shared by all of its keys, and those of a key that is gone end with their time", async (store, other) => {
    await putWithUses(store, IDENTITY);
    const limits = [aSlotLimit({ owner: 1, limit: 2 })];
    const hold = { ...HELD, keeps: "slots", slotTtl: MINUTE, most: [9, 9] } as const;
    const plan = (number: number) =>
      aSlotPlan({ confirms: atFirst(at("key", number), at("identity")), limits, hold });
    for (const number of [1, 2]) {
      await putWithUses(store, aRecord("key", number));
      await reserve(store, number, plan(number));
    }
    await chargeAs("rate-limited", other, plan(1), { holdId: holdId(9) });
    await commit(store, { deletes: [at("key", 1)] });
    await settleAs("unknown", store, aRelease(1));
    await chargeAs("rate-limited", other, plan(2), { holdId: holdId(9) });
    await settleAs("refreshed", store, aRefresh(IDENTITY), NOW + MINUTE);
    await settleAs("unknown", store, aRelease(1), NOW + MINUTE);
    await reserve(other, 3, plan(2), { now: NOW + MINUTE });
    await reserve(other, 4, plan(2), { now: NOW + MINUTE });
  }),
];
