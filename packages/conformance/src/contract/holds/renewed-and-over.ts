import assert from "node:assert/strict";
import { it, type StoreContract } from "../../fixtures/context.js";
import {
  aHeldLimit,
  anEnd,
  aRefresh,
  aRelease,
  aReservation,
  BOTH,
  ENDS,
  HELD,
  heldIds,
  holdId,
  holdsOf,
  idsOf,
  left,
  renewal,
  reserve,
  settle,
  settleAs,
  sumsOf,
} from "../../fixtures/holds.js";
import { aPlan, charge, chargeAs, usedOf } from "../../fixtures/plans.js";
import { countByKind, race } from "../../fixtures/race.js";
import {
  aRecord,
  assertHolds,
  at,
  atFirst,
  commit,
  DAY,
  IDENTITY,
  KEY,
  load,
  MINUTE,
  NOW,
  nextOf,
  put,
  putWithUses,
  usesOf,
} from "../../fixtures/records.js";

const SHARED = aReservation({ confirms: BOTH, hold: { ...HELD, most: [9, 9] } });
export const renewedAndOverContracts: readonly StoreContract[] = [
  it("H3: from the end of its time on a hold has ended by itself, once, and nothing of it was used", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    for (const number of [1, 2, 3])
      await reserve(store, number, aReservation({ cost: 2, limits: [aHeldLimit({ cost: 3 })] }));
    await settleAs("ended", store, anEnd(1), ENDS - 1);
    const [hold] = await holdsOf(store);
    assert.deepEqual(await settle(other, anEnd(2), ENDS), { kind: "expired", hold });
    assert.equal(await left(store), 6);
    for (const step of [anEnd(2), anEnd(2, 9), aRelease(2), renewal(2)])
      assert.deepEqual(await settle(other, step, ENDS + 1), { kind: "expired", hold: null });
    assert.equal((await settleAs("expired", other, renewal(3), ENDS)).hold?.id, holdId(3));
    await assertHolds(store, KEY, { usage: usesOf(8) });
    assert.equal(await usedOf(store, { window: "60000:default" }), 3);
  }),
  it("a renewed hold lasts from then on, for as long as at first or for a given time", async (store, other) => {
    await putWithUses(store, KEY);
    await putWithUses(store, IDENTITY);
    await reserve(store, 1, SHARED);
    await reserve(store, 2, { ...SHARED, hold: { ...HELD, most: [9, 9], ttl: DAY } });
    let now = NOW;
    for (const [ttl, span] of [
      [null, MINUTE],
      [2 * MINUTE, 2 * MINUTE],
      [1_000, 1_000],
      [2 * DAY, 2 * DAY],
      [null, MINUTE],
    ] as const) {
      now += 500;
      const { hold } = await settleAs("renewed", store, renewal(1, ttl), now);
      assert.equal(hold.expiresAt, now + span);
      assert.deepEqual((await holdsOf(other))[0], hold);
      const nextEnd = Math.min(now + span, NOW + DAY);
      for (const record of [KEY, IDENTITY])
        assert.equal((await load(other, record)).usage?.holds?.nextEnd, nextEnd);
    }
    await chargeAs("charged", other, aPlan({ confirms: BOTH }), { now: ENDS });
  }),
  it("a refresh ends the holds beside a record that are over, earliest end first, and nothing else", async (store, other) => {
    await putWithUses(store, KEY, usesOf(100));
    await putWithUses(store, IDENTITY);
    for (const [number, after] of [
      [5, 3],
      [4, 0],
      [3, 1],
      [2, 1],
      [1, 4],
    ] as const) {
      const plan = { ...SHARED, cost: 10 ** (number > 4 ? 0 : 1) };
      await reserve(store, number, plan, { now: NOW + after });
    }
    const { expired, hasMore } = await settleAs("refreshed", other, aRefresh(IDENTITY), ENDS + 3);
    assert.deepEqual(idsOf(expired), [4, 2, 3, 5].map(holdId));
    assert.equal(hasMore, false);
    const holds = sumsOf({ nextEnd: ENDS + 4, open: 1, next: 5 });
    await assertHolds(store, KEY, { usage: usesOf(90, { holds: { ...holds, uses: 10 } }) });
    await assertHolds(store, IDENTITY, { usage: usesOf(null, { holds }) });
    const none = { kind: "refreshed", expired: [], hasMore: false };
    assert.deepEqual(await settle(other, aRefresh(), ENDS + 3), none);
    for (const of of [at("key", 2), at("identity", 2)])
      assert.deepEqual(await settle(other, aRefresh(of), ENDS + 9), none);
    await chargeAs("charged", other, aPlan({ confirms: BOTH }), { now: ENDS + 3 });
  }),
  it("an end beside others that are over ends these, the earliest first, and is asked for again", async (store, other) => {
    const second = aRecord("key", 2);
    await putWithUses(store, KEY, usesOf(100));
    await putWithUses(store, second, usesOf(100));
    await putWithUses(store, IDENTITY);
    const ofSecond = atFirst(second, IDENTITY);
    for (const [number, after, confirms] of [
      [1, 3, BOTH],
      [2, 0, ofSecond],
      [3, 1, BOTH],
      [4, 9, BOTH],
      [5, 0, BOTH],
    ] as const)
      await reserve(store, number, { ...SHARED, confirms, cost: 2 }, { now: NOW + after });
    const now = ENDS + 3;
    const { expired, hasMore } = await settleAs("refreshed", other, anEnd(4, 1), now);
    assert.deepEqual(idsOf(expired), [2, 5, 3, 1].map(holdId));
    assert.equal(hasMore, true);
    assert.deepEqual(await heldIds(store), [holdId(4)]);
    assert.deepEqual([await left(store), await left(store, second)], [98, 100]);
    // Ends of more than is held, or of an unknown name, are refused first: they end nothing that is over.
    await reserve(store, 6, { ...SHARED, hold: { ...HELD, most: [9, 9], ttl: 1 } }, { now });
    await settleAs("over", other, anEnd(4, 3), now + 1);
    await settleAs("unnamed", other, anEnd(4, 1, { unknown: 1 }), now + 1);
    assert.deepEqual(await heldIds(store), [4, 6].map(holdId));
    await settleAs("refreshed", store, aRelease(4), now + 1);
    const { usage } = await settleAs("ended", other, anEnd(4, 1), now + 1);
    assert.equal(usage?.remaining, 99);
    await assertHolds(store, KEY, { usage: usesOf(99) });
  }),
  it("a refresh ends a hundred at most, and says that there are more", async (store, other) => {
    await putWithUses(store, KEY, usesOf(1_000));
    for (let number = 0; number < 203; number += 1) await reserve(store, number);
    const ended: string[] = [];
    for (const [count, more] of [
      [100, true],
      [100, true],
      [3, false],
    ] as const) {
      await chargeAs("unsettled", store, aPlan(), { now: ENDS });
      const { expired, hasMore } = await settleAs("refreshed", other, aRefresh(), ENDS);
      assert.deepEqual([expired.length, hasMore], [count, more]);
      ended.push(...idsOf(expired));
      assert.equal(await left(store), 797 + ended.length);
    }
    assert.deepEqual(
      ended,
      Array.from({ length: 203 }, (_, number) => holdId(number)),
    );
    await assertHolds(store, KEY, { usage: usesOf(1_000) });
  }),
  it("N callers that notice at once that holds are over end each hold once", async (store, other) => {
    await putWithUses(store, KEY, usesOf(100));
    for (let number = 1; number <= 20; number += 1)
      await reserve(store, number, aReservation({ cost: 2 }));
    const answers = await race({ store, other }, 20, (each, number) =>
      number % 4 === 0 ? settle(each, aRefresh(), ENDS) : settle(each, anEnd(number, 1), ENDS),
    );
    const ended = answers.flatMap((answer) => {
      if (answer.kind === "refreshed") return idsOf(answer.expired);
      return answer.kind === "expired" && answer.hold !== null ? [answer.hold.id] : [];
    });
    assert.deepEqual([ended.length, new Set(ended).size], [20, 20]);
    await assertHolds(other, KEY, { usage: usesOf(100) });
  }),
  it("holds of records that share counters are beside all of them, and outlive each but the last", async (store, other) => {
    const second = aRecord("key", 2);
    await putWithUses(store, KEY, usesOf(10));
    await reserve(store, 1, aReservation({ cost: 3 }));
    await commit(store, { puts: [{ record: second, counters: { sharedWith: KEY.id } }] });
    const confirms = atFirst(second);
    await reserve(store, 2, aReservation({ confirms, cost: 2 }));
    for (const record of [KEY, second])
      assert.deepEqual(await heldIds(other, record), [1, 2].map(holdId));
    await commit(store, { deletes: [KEY] });
    await settleAs("ended", other, anEnd(1, 1));
    assert.equal(await left(other, second), 7);
    await commit(store, { deletes: [second] });
    await settleAs("unknown", other, anEnd(2));
  }),
  it("the holds of a record go with its counters, also when it gets others", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    await reserve(store, 1);
    await commit(store, { deletes: [KEY] });
    await putWithUses(store, KEY, usesOf(10));
    await settleAs("unknown", other, anEnd(1));
    await reserve(store, 2);
    await putWithUses(store, KEY, usesOf(20));
    await settleAs("unknown", other, anEnd(2));
    assert.deepEqual(await heldIds(other), []);
    await assertHolds(other, KEY, { usage: usesOf(20) });
    await reserve(store, 3);
    await put(store, nextOf(KEY));
    await settleAs("ended", other, aRelease(3));
    assert.equal(await left(other), 20);
  }),
  it("the hold of a deleted key gives back to its identity at the end of its time, and is unknown", async (store, other) => {
    const limits = [aHeldLimit({ owner: 1, cost: 4, duration: 9 * DAY })];
    await putWithUses(store, KEY, usesOf(10));
    await putWithUses(store, IDENTITY, usesOf(10));
    await reserve(store, 1, { ...SHARED, uses: 1, cost: 3, limits });
    await commit(store, { deletes: [KEY] });
    for (const step of [anEnd(), renewal()]) await settleAs("unknown", other, step);
    assert.deepEqual(await heldIds(other, IDENTITY), [holdId()]);
    await assertHolds(other, IDENTITY, { usage: usesOf(7, { holds: sumsOf({ uses: 3 }) }) });
    const confirms = BOTH.slice(1);
    await chargeAs("unsettled", other, aPlan({ confirms }), { now: ENDS });
    const { expired } = await settleAs("refreshed", other, aRefresh(IDENTITY), ENDS);
    assert.deepEqual(idsOf(expired), [holdId()]);
    await assertHolds(other, IDENTITY, { usage: usesOf(10) });
    const window = "777600000:default";
    assert.equal(await usedOf(other, { owner: IDENTITY, window, duration: 9 * DAY }), 0);
    await settleAs("unknown", other, anEnd(), ENDS);
  }),
  it("a lease of an identity gives back when the process says what was used, even once the key is gone", async (store, other) => {
    const limits = [aHeldLimit({ cost: 2 }), aHeldLimit({ owner: 1, cost: 4, name: "shared" })];
    await putWithUses(store, KEY, usesOf(10));
    await putWithUses(store, IDENTITY, usesOf(10));
    const id = "lse_1";
    await reserve(store, 1, { ...SHARED, uses: 1, cost: 3, limits }, { holdId: id });
    await commit(store, { deletes: [KEY] });
    const end = {
      ...anEnd(1, 1, { default: 1, shared: 1 }),
      id,
    } as const;
    const { usage, used } = await settleAs("ended", other, end);
    assert.deepEqual([usage?.remaining, used], [9, { uses: 1, limits: [1, 1] }]);
    assert.deepEqual(await heldIds(other, IDENTITY), []);
    await assertHolds(other, IDENTITY, { usage: usesOf(9) });
    assert.equal(await usedOf(other, { owner: IDENTITY, window: "60000:shared" }), 1);
    const { isRepeat } = await settleAs("ended", other, end);
    assert.equal(isRepeat, true);
  }),
  it("a hold outlives the identity of its key, and gives nothing back to it", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    await putWithUses(store, IDENTITY, usesOf(10));
    const limits = [aHeldLimit({ cost: 4 })];
    for (const number of [1, 2])
      await reserve(store, number, { ...SHARED, uses: 1, cost: 3, limits });
    await commit(store, { deletes: [IDENTITY] });
    const { usage, used } = await settleAs("ended", other, aRelease(1));
    assert.deepEqual([usage, used], [null, { uses: 0, limits: [0] }]);
    assert.equal(await usedOf(other, { window: "60000:default" }), 4);
    await putWithUses(store, IDENTITY, usesOf(10));
    await settleAs("refreshed", other, aRefresh(), ENDS);
    await assertHolds(other, IDENTITY, { usage: usesOf(10) });
    await assertHolds(other, KEY, { usage: usesOf(10) });
  }),
  it("ends beside charges: nothing is lost, and nothing is there twice", async (store, other) => {
    await putWithUses(store, KEY, usesOf(30));
    for (let number = 0; number < 10; number += 1)
      await reserve(store, number, aReservation({ cost: 3 }));
    const answers = await race({ store, other }, 30, async (each, number) =>
      number < 10
        ? ((await settle(each, anEnd(number, 1))) as { readonly kind: string })
        : charge(each, aPlan()),
    );
    const { charged = 0, ended } = countByKind(answers);
    assert.equal(ended, 10);
    assert.equal(await left(other), 20 - charged);
    await assertHolds(other, KEY, { usage: usesOf(20 - charged) });
    assert.deepEqual(await heldIds(other), []);
  }),
];
