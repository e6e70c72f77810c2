import assert from "node:assert/strict";
import { LAST_INSTANT } from "@latchkey/core";
import { it, type StoreContract } from "../../fixtures/context.js";
import {
  aHeldLimit,
  anEnd,
  aRelease,
  aReservation,
  aSlotLimit,
  aSlotPlan,
  BOTH,
  ENDS,
  HELD,
  heldIds,
  holdId,
  holdsOf,
  idsOf,
  reserve,
  settleAs,
  sumsOf,
} from "../../fixtures/holds.js";
import {
  aPlan,
  aRequest,
  charge,
  chargeAs,
  leftOfLimits,
  repeatOf,
  usedOf,
} from "../../fixtures/plans.js";
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
  WORKSPACE,
} from "../../fixtures/records.js";

const MIDNIGHT = NOW - (NOW % DAY) + DAY;

function most(...counts: readonly number[]): typeof HELD {
  return { ...HELD, most: counts };
}

export const takenHoldContracts: readonly StoreContract[] = [
  it("held uses are taken, and are kept beside the counters until an instant", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    const { remaining, hold } = await reserve(store, 1, aReservation({ cost: 3 }));
    assert.deepEqual([remaining, hold], [7, { id: holdId(), expiresAt: ENDS }]);
    await assertHolds(other, KEY, { usage: usesOf(7, { holds: sumsOf({ uses: 3 }) }) });
    const held = { createdAt: NOW, expiresAt: ENDS, ttl: MINUTE, uses: 3, usesOf: 0 };
    assert.deepEqual(await holdsOf(other), [
      { id: holdId(), keyId: KEY.id, identityId: null, ...held, numbers: [0], limits: [] },
    ]);
    await reserve(other, 2, aReservation({ cost: 2 }), { now: NOW - 1 });
    const holds = sumsOf({ uses: 5, open: 2, next: 2, nextEnd: ENDS - 1 });
    await assertHolds(store, KEY, { usage: usesOf(5, { holds }) });
    assert.deepEqual(
      (await holdsOf(store)).map(({ numbers }) => numbers),
      [[0], [1]],
    );
  }),
  it("a hold says what was taken of each limit, and from which window or group of it", async (store, other) => {
    await putWithUses(store, KEY);
    const limits = [
      aHeldLimit({ name: "window", cost: 2 }),
      aHeldLimit({ name: "sliding", algorithm: "sliding", cost: 3 }),
      aHeldLimit({ name: "bucket", algorithm: "token-bucket", cost: 4, limit: 7, burst: 9 }),
      aHeldLimit({ name: "looked%20at", cost: 0 }),
      aHeldLimit({ name: "shadow", shadow: true, cost: 11 }),
      aHeldLimit({ name: "seen", shadow: true, cost: 5 }),
      aHeldLimit({ name: "made%3Aup", window: "a:key_1:60000:made%3Aup", owner: null, cost: 6 }),
    ];
    await reserve(store, 1, aReservation({ limits }));
    const [hold] = await holdsOf(other);
    const minuteAt = NOW - (NOW % MINUTE);
    const held = { owner: 0, at: minuteAt, rate: 0 };
    assert.deepEqual(hold?.limits, [
      { ...held, window: "60000:window", units: 2 },
      { ...held, window: "s60000:sliding", units: 3, at: NOW },
      { ...held, window: "t60000:bucket", units: 4, at: NOW, rate: 7, flowed: 0 },
      { ...held, window: "60000:shadow", units: 0 },
      { ...held, window: "60000:seen", units: 5 },
      { ...held, window: "a:key_1:60000:made%3Aup", units: 6, owner: null },
    ]);
    // Uses without a limit are never given back.
    assert.deepEqual([hold?.uses, hold?.usesOf], [1, null]);
    await assertHolds(other, KEY, { usage: usesOf(null, { holds: sumsOf() }) });
  }),
  it("a hold is beside the counters of a key and of its identity, with a number at each", async (store, other) => {
    await putWithUses(store, KEY, usesOf(4));
    await putWithUses(store, IDENTITY, usesOf(10));
    await reserve(store, 1, aReservation({ cost: 1 }));
    const limits = [aHeldLimit({ owner: 1, cost: 2 })];
    const shared = aReservation({ confirms: BOTH, hold: most(9, 9), uses: 1, cost: 3, limits });
    await reserve(store, 2, shared);
    const keyed = sumsOf({ open: 2, next: 2, uses: 1 });
    await assertHolds(other, KEY, { usage: usesOf(3, { holds: keyed }) });
    await assertHolds(other, IDENTITY, { usage: usesOf(7, { holds: sumsOf({ uses: 3 }) }) });
    const [hold, ...more] = await holdsOf(other, IDENTITY);
    assert.deepEqual(more, []);
    assert.deepEqual(hold, (await holdsOf(other))[1]);
    const { keyId, identityId, numbers, usesOf: place, limits: held } = hold ?? {};
    assert.deepEqual([keyId, identityId, place], [KEY.id, IDENTITY.id, 1]);
    assert.deepEqual([numbers, held?.[0]?.owner], [[1, 0], 1]);
  }),
  it("holds beside a record are listed by their ids, above a given one, and up to a limit", async (store, other) => {
    await putWithUses(store, KEY);
    await putWithUses(store, aRecord("key", 2));
    await put(store, aRecord("key", 3));
    for (const number of [3, 1, 4, 2]) await reserve(store, number);
    const beside = async (after: string | null, limit: number, of = at("key")) =>
      idsOf(await other.holds(WORKSPACE, of, after, limit));
    assert.deepEqual(await beside(null, 3), [1, 2, 3].map(holdId));
    assert.deepEqual(await beside(holdId(2), 9), [3, 4].map(holdId));
    assert.deepEqual(await beside(`${holdId(3)}.s`, 9), [holdId(4)]);
    assert.deepEqual(await beside(holdId(4), 9), []);
    for (const number of [2, 3, 4]) assert.deepEqual(await beside(null, 9, at("key", number)), []);
  }),
  it("a plan that is refused, or only looks, or is stale, holds nothing", async (store, other) => {
    await putWithUses(store, KEY, usesOf(2));
    const full = aReservation({ limits: [aHeldLimit({ cost: 11 })] });
    const refused = await chargeAs("rate-limited", store, full, { holdId: holdId() });
    assert.equal("hold" in refused && refused.hold !== undefined, false);
    await chargeAs("usage-exceeded", store, aReservation({ cost: 3 }), { holdId: holdId() });
    await reserve(store, 1, aReservation({ mode: "peek" }));
    const moved = aReservation({ confirms: [{ ...at("key"), version: 2 }] });
    await chargeAs("stale", store, moved, { holdId: holdId() });
    await assertHolds(other, KEY, { usage: usesOf(2) });
    assert.deepEqual(await heldIds(other), []);
  }),
  it("of N plans that hold the rest of the uses at once exactly as many as there are go through", async (store, other) => {
    await putWithUses(store, KEY, usesOf(12));
    const answers = await race({ store, other }, 30, (each, number) =>
      charge(each, aReservation({ cost: 2 }), { holdId: holdId(number) }),
    );
    assert.deepEqual(countByKind(answers), { charged: 6, "usage-exceeded": 24 });
    const holds = sumsOf({ uses: 12, open: 6, next: 6 });
    await assertHolds(other, KEY, { usage: usesOf(0, { holds }) });
    const numbers = (await holdsOf(store)).map((hold) => hold.numbers[0]);
    assert.deepEqual(numbers.toSorted(), [0, 1, 2, 3, 4, 5]);
  }),
  it("as many holds may be open beside a record as the plan says, and one more takes nothing", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    await putWithUses(store, aRecord("key", 2), usesOf(10));
    await putWithUses(store, IDENTITY);
    const plan = (number: number) =>
      aReservation({
        confirms: atFirst(at("key", number), IDENTITY),
        hold: most(2, 3),
        limits: [aHeldLimit()],
      });
    for (const [number, key] of [1, 1, 2].entries()) await reserve(store, number, plan(key));
    const again = { holdId: holdId(9) };
    assert.deepEqual(await charge(other, plan(1), again), { kind: "too-many-holds", record: 0 });
    assert.deepEqual(await charge(other, plan(2), again), { kind: "too-many-holds", record: 1 });
    assert.equal((await load(other, at("key"))).usage?.remaining, 8);
    assert.equal(await usedOf(other, { window: "60000:default" }), 2);
    await chargeAs("charged", store, { ...plan(1), hold: undefined });
    await settleAs("ended", store, anEnd(0));
    await reserve(other, 9, plan(2));
    await chargeAs("too-many-holds", other, plan(1), { holdId: holdId(10) });
  }),
  it("a plan that is refused anyway is refused, however many holds are open", async (store) => {
    await putWithUses(store, KEY, usesOf(1));
    const plan = aReservation({ hold: most(1) });
    await reserve(store, 1, plan);
    await chargeAs("usage-exceeded", store, plan, { holdId: holdId(2) });
  }),
  it("slots do not count beside what they came with, and count by themselves", async (store) => {
    await putWithUses(store, KEY, usesOf(9));
    const slots = { limits: [aSlotLimit()] };
    const all = aReservation({ ...slots, hold: { ...most(2), slotTtl: MINUTE } });
    await reserve(store, 1, all);
    await reserve(
      store,
      2,
      aSlotPlan({ ...slots, hold: { ...most(2), keeps: "slots", slotTtl: MINUTE } }),
    );
    await chargeAs("too-many-holds", store, all, { holdId: holdId(3) });
    assert.equal((await load(store, KEY)).usage?.holds?.open, 2);
  }),
  it("no charge beside a hold that is over is decided until the hold is settled", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    await reserve(store);
    await chargeAs("charged", store, aPlan(), { now: ENDS - 1 });
    for (const mode of ["commit", "peek"] as const) {
      const result = await charge(other, aPlan({ mode }), { now: ENDS });
      assert.deepEqual(result, { kind: "unsettled", record: 0 });
    }
    const free = aPlan({ cost: 0, uses: null });
    await chargeAs("unsettled", other, free, { now: ENDS + DAY });
    const before = usesOf(3, { holds: sumsOf({ uses: 1 }) });
    await assertHolds(other, KEY, { usage: before });
    await put(store, nextOf(KEY));
    await chargeAs("stale", other, aPlan(), { now: ENDS });
  }),
  it("a charge names the record with a hold to settle, even if it takes nothing from that record", async (store, other) => {
    await putWithUses(store, aRecord("key", 2));
    await putWithUses(store, KEY, usesOf(5));
    await putWithUses(store, IDENTITY);
    const confirms = atFirst(at("key", 2), IDENTITY);
    await reserve(store, 1, aReservation({ confirms, hold: most(1, 1), cost: 0, uses: null }));
    const unsettled = { kind: "unsettled", record: 1 };
    assert.deepEqual(await charge(other, aPlan({ confirms: BOTH }), { now: ENDS }), unsettled);
    await chargeAs("charged", other, aPlan(), { now: ENDS });
  }),
  it("a refill that falls due while uses are held has to be settled, and is applied by a charge otherwise", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    const now = MIDNIGHT;
    const refill = { amount: 9, dueAt: MIDNIGHT };
    const long = { ...HELD, ttl: DAY };
    await reserve(store, 1, aReservation({ cost: 0, hold: long, limits: [aHeldLimit()] }));
    const first = await chargeAs("charged", store, aPlan(), { now, refill });
    assert.equal(first.remaining, 8);
    await reserve(store, 2, aReservation({ hold: long }), { now });
    await chargeAs("charged", other, aPlan(), { now, refill });
    const next = { ...refill, dueAt: MIDNIGHT + 1 };
    const result = await charge(other, aPlan(), { now: now + 1, refill: next });
    assert.deepEqual(result, { kind: "unsettled", record: 0 });
    await chargeAs("charged", other, aPlan({ uses: null, cost: 0 }), {
      now: now + 1,
      refill: next,
    });
    assert.equal((await load(other, KEY)).usage?.remaining, 6);
  }),
  it("a refill that carries over has to be settled, whatever is held", async (store) => {
    await putWithUses(store, KEY, usesOf(5));
    const countedFrom = () => assert.fail("a store counts no refills");
    const carry = { units: 3, since: NOW, countedFrom };
    const refill = { amount: 9, dueAt: NOW + 1, carry };
    await chargeAs("unsettled", store, aPlan(), { now: NOW + 1, refill });
    await chargeAs("charged", store, aPlan(), { refill: { ...refill, dueAt: NOW } });
    await putWithUses(store, KEY, usesOf(null));
    await chargeAs("charged", store, aPlan(), { now: NOW + 1, refill });
  }),
  it("a repeated request is answered with the hold that it got, and holds nothing again", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    const limits = [aHeldLimit(), aSlotLimit()];
    const plan = aReservation({ limits, hold: { ...HELD, slotTtl: 30_000 } });
    const request = aRequest({ rememberUntil: NOW + DAY });
    const first = await reserve(store, 1, plan, { request });
    assert.deepEqual(first.hold, { id: holdId(), expiresAt: ENDS });
    assert.deepEqual(await reserve(other, 2, plan, { request }), repeatOf(first));
    assert.deepEqual(await heldIds(other), [holdId(), `${holdId()}.s`]);
    // Also once it is over, and once it has ended.
    assert.deepEqual(await reserve(other, 2, plan, { request, now: ENDS }), repeatOf(first));
    await settleAs("ended", store, aRelease());
    assert.deepEqual(await reserve(other, 2, plan, { request }), repeatOf(first));
    assert.deepEqual(await heldIds(other), []);
    await assertHolds(other, KEY, { usage: usesOf(5) });
    const anew = { ...request, fingerprint: "question-2" };
    await chargeAs("conflict", other, plan, { request: anew, holdId: holdId(2) });
  }),
  it("of N repeats at once of a request that holds one holds, and all are answered with it", async (store, other) => {
    await putWithUses(store, KEY, usesOf(9));
    const request = aRequest();
    const answers = await race({ store, other }, 12, (each, number) =>
      reserve(each, number, aReservation({ cost: 4 }), { request }),
    );
    for (const answer of answers)
      assert.deepEqual(repeatOf(answer), repeatOf(answers[0] ?? answer));
    assert.deepEqual(await heldIds(other), [answers[0]?.hold?.id]);
    const usage = usesOf(5, { holds: sumsOf({ uses: 4 }) });
    await assertHolds(other, KEY, { usage });
  }),
  it("a refusal because too many holds are open is not remembered", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    const plan = aReservation({ hold: most(1) });
    const request = aRequest();
    await reserve(store, 1, plan);
    await chargeAs("too-many-holds", store, plan, { request, holdId: holdId(2) });
    await settleAs("ended", store, aRelease());
    const { hold } = await reserve(other, 3, plan, { request });
    assert.equal(hold?.id, holdId(3));
  }),
  it("a hold ends at the last instant of a date at the latest", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    const now = LAST_INSTANT - 1_000;
    const limits = [aHeldLimit({ owner: null }), aSlotLimit({ duration: 2 ** 52 })];
    const hold = { ...HELD, ttl: 2 ** 52, slotTtl: 2 ** 52 };
    const charged = await reserve(store, 1, aReservation({ limits, hold }), { now });
    assert.equal(charged.hold?.expiresAt, LAST_INSTANT);
    for (const { expiresAt } of await holdsOf(other)) assert.equal(expiresAt, LAST_INSTANT);
    await reserve(store, 2, aReservation({ limits, hold }), { now: LAST_INSTANT - 1 });
    await settleAs("renewed", store, { kind: "renew", id: holdId(), ttl: null }, now + 1);
    assert.equal((await load(other, KEY)).usage?.holds?.nextEnd, LAST_INSTANT);
    await chargeAs("unsettled", other, aPlan(), { now: LAST_INSTANT });
  }),
  it("numbers up to the largest are held, and given back", async (store, other) => {
    const all = Number.MAX_SAFE_INTEGER;
    await putWithUses(store, KEY, usesOf(all));
    const duration = 2 ** 40;
    const limits = [
      aHeldLimit({ limit: all, cost: all }),
      aHeldLimit({ algorithm: "sliding", limit: all, cost: all }),
      aHeldLimit({ algorithm: "token-bucket", duration, limit: 3, burst: 8_191, cost: 8_191 }),
      aSlotLimit({ limit: all, cost: all }),
    ];
    const hold = { ...HELD, slotTtl: MINUTE };
    await reserve(store, 1, aReservation({ cost: all, limits, hold }));
    const usage = usesOf(0, { holds: sumsOf({ uses: all, next: 2 }) });
    await assertHolds(other, KEY, { usage });
    await settleAs("ended", store, aRelease());
    await assertHolds(other, KEY, { usage: usesOf(all) });
    const looked = await chargeAs("charged", other, aPlan({ mode: "peek", limits }));
    assert.deepEqual(leftOfLimits(looked), [0, 0, 0, 0]);
  }),
  it("the counters that a change or a page returns come with the sums of their holds", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    await commit(store, { enters: [{ list: "key", id: KEY.id }] });
    await reserve(store);
    const usage = usesOf(4, { holds: sumsOf({ uses: 1 }) });
    assert.deepEqual(await commit(store, { counters: [at("key")] }), [usage]);
    const { found } = await other.page(WORKSPACE, {
      kind: "key",
      list: "key",
      after: null,
      limit: 1,
    });
    assert.deepEqual({ ...found[0]?.usage }, usage);
    await put(store, aRecord("key", 2, { link: IDENTITY.id }));
    await putWithUses(store, IDENTITY, usage);
    assert.deepEqual({ ...(await load(other, at("key", 2))).linked?.usage }, usage);
  }),
];
