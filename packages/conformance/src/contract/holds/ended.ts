import assert from "node:assert/strict";
import { it, type StoreContract } from "../../fixtures/context.js";
import {
  aHeldLimit,
  anEnd,
  aRefresh,
  aRelease,
  aReservation,
  ENDS,
  HELD,
  heldIds,
  holdId,
  holdsOf,
  left,
  renewal,
  reserve,
  room,
  settle,
  settleAs,
  sumsOf,
} from "../../fixtures/holds.js";
import { aPlan, chargeAs, usedOf } from "../../fixtures/plans.js";
import { countByKind, race } from "../../fixtures/race.js";
import {
  assertHolds,
  commit,
  DAY,
  KEY,
  load,
  MINUTE,
  NOW,
  nextOf,
  OTHER_WORKSPACE,
  put,
  putWithUses,
  revisionOf,
  usesOf,
} from "../../fixtures/records.js";

export const endedHoldContracts: readonly StoreContract[] = [
  it("an end takes for good what was used, gives the rest back, and returns what is left then", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    const limits = [aHeldLimit({ cost: 4 }), aHeldLimit({ name: "others", cost: 3 })];
    await reserve(store, 1, aReservation({ cost: 6, limits }));
    await chargeAs("charged", store, aPlan({ cost: 2, limits: [aHeldLimit()] }));
    const [hold] = await holdsOf(store);
    const ended = await settle(other, anEnd(1, 1, { default: 3 }), NOW + 5);
    const used = { uses: 1, limits: [3, 3] };
    const expected = {
      kind: "ended",
      isRepeat: false,
      hold,
      used,
      usage: usesOf(7),
      endedAt: NOW + 5,
    };
    assert.deepEqual(ended, expected);
    await assertHolds(store, KEY, { usage: usesOf(7) });
    assert.equal(await usedOf(store, { window: "60000:default" }), 4);
    assert.equal(await usedOf(store, { window: "60000:others" }), 3);
    assert.deepEqual(await heldIds(store), []);
  }),
  it("an end without figures takes all, and one that names nothing of the rest gives all back", async (store, other) => {
    for (const [step, remaining, taken] of [
      [anEnd(), 7, 4],
      [aRelease(), 10, 0],
      [{ ...aRelease(), limits: [{ name: "default", cost: 1 }] }, 10, 1],
      [{ ...anEnd(), uses: 0 }, 10, 4],
    ] as const) {
      await commit(store, { deletes: [KEY] });
      await putWithUses(store, KEY, usesOf(10));
      const number = 10 * remaining + taken;
      await reserve(store, number, aReservation({ cost: 3, limits: [aHeldLimit({ cost: 4 })] }));
      await settleAs("ended", other, { ...step, id: holdId(number) } as never);
      assert.equal(await left(store), remaining);
      assert.equal(await usedOf(store, { window: "60000:default" }), taken);
    }
  }),
  it("other holds go on when one ends", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    for (const number of [1, 2, 3])
      await reserve(store, number, aReservation({ cost: number }), { now: NOW + number });
    await settleAs("ended", other, aRelease(1), NOW + 9);
    const holds = sumsOf({ nextEnd: ENDS + 2, open: 2, next: 3, uses: 5 });
    await assertHolds(store, KEY, { usage: usesOf(5, { holds }) });
    const { usage } = await settleAs("ended", other, aRelease(3), NOW + 9);
    assert.deepEqual({ ...usage }, usesOf(8));
    const left = { ...holds, open: 1, uses: 2 };
    await assertHolds(store, KEY, { usage: usesOf(8, { holds: left }) });
    assert.deepEqual(await heldIds(store), [holdId(2)]);
  }),
  it("units go back to the window that they came from, and nowhere once it is over", async (store, other) => {
    await putWithUses(store, KEY);
    const limit = aHeldLimit({ cost: 4 });
    for (const number of [1, 2])
      await reserve(store, number, aReservation({ limits: [limit], hold: { ...HELD, ttl: DAY } }));
    const edge = NOW - (NOW % MINUTE) + MINUTE;
    await settleAs("ended", store, aRelease(1), edge - 1);
    assert.equal(await room(other, limit, edge - 1), 6);
    await chargeAs("charged", store, aPlan({ cost: 0, limits: [limit] }), { now: edge });
    await settleAs("ended", store, aRelease(2), edge);
    assert.equal(await room(other, limit, edge), 6);
  }),
  it("units go back to the group of a sliding limit that they came from, while it counts", async (store, other) => {
    await putWithUses(store, KEY);
    const duration = 1_600;
    const limit = aHeldLimit({ algorithm: "sliding", duration, cost: 2, limit: 20 });
    const start = NOW - (NOW % 100);
    const long = aReservation({ limits: [limit], hold: { ...HELD, ttl: DAY } });
    for (const [number, after] of [0, 99, 100, 450].entries())
      await reserve(store, number, long, { now: start + after });
    // In the first group 4, in the second 2, in the fifth 2.
    assert.equal(await room(other, limit, start + 450), 12);
    await settleAs("ended", store, aRelease(1), start + 460);
    assert.equal(await room(other, limit, start + 460), 14);
    assert.equal(await room(other, limit, start + duration + 99), 16);
    await settleAs("ended", store, aRelease(0), start + duration + 99);
    assert.equal(await room(other, limit, start + duration + 99), 16);
    await settleAs("ended", store, aRelease(3), start + duration + 99);
    assert.equal(await room(other, limit, start + duration + 99), 18);
    assert.equal(await room(other, limit, start + duration + 199), 20);
  }),
  it("a bucket is as full as if unused units had never been taken, also when the end is noticed later", async (store, other) => {
    await putWithUses(store, KEY);
    const limit = aHeldLimit({ algorithm: "token-bucket", limit: 6, burst: 20, cost: 8 });
    const long = aReservation({ limits: [limit], hold: { ...HELD, ttl: 40_000 } });
    await reserve(store, 1, long);
    await chargeAs("charged", store, aPlan({ cost: 0, limits: [{ ...limit, cost: 12 }] }));
    // One unit in ten seconds: three have flowed in, and nothing was taken meanwhile, so eight come back.
    const later = NOW + 30_000;
    await settleAs("ended", store, aRelease(1), later);
    assert.equal(await room(other, limit, later), 11);
    await reserve(store, 2, long, { now: later });
    await settleAs("refreshed", other, aRefresh(), later + 55_000);
    // Eight came back, and five have flowed in.
    assert.equal(await room(other, limit, later + 55_000), 16);
    assert.equal(await room(other, limit, later + 60_000), 17);
  }),
  it("T2, H2: a bucket that is filled faster or slower by now gets back what has not flowed in", async (store, other) => {
    await putWithUses(store, KEY);
    const figures = { algorithm: "token-bucket", burst: 10, cost: 10 } as const;
    const slow = aHeldLimit({ ...figures, limit: 1 });
    const fast = { ...slow, limit: 1_000 };
    const takes = (limit: typeof slow, cost: number, now: number) =>
      chargeAs("charged", store, aPlan({ cost: 0, limits: [{ ...limit, cost }] }), { now });
    await reserve(store, 1, aReservation({ limits: [slow] }));
    const [hold] = await holdsOf(other);
    assert.deepEqual(
      hold?.limits.map(({ rate, flowed }) => [rate, flowed]),
      [[1, 0]],
    );
    // Sixteen would have flowed in, so all of it did: nothing is left to give back.
    await takes(fast, 10, NOW + 1_000);
    await settleAs("ended", other, aRelease(1), NOW + 1_000);
    assert.equal(await room(store, fast, NOW + 1_000), 0);
    // Slower by now: next to nothing flows in until it ends.
    await reserve(store, 2, aReservation({ limits: [fast] }), { now: NOW + 2_000 });
    await settleAs("ended", other, aRelease(2), NOW + 30_000);
    assert.equal(await room(store, slow, NOW + 30_000), 10);
    // Some of it has flowed in, at both rates.
    const long = { ...HELD, ttl: 2 * MINUTE };
    await reserve(store, 3, aReservation({ limits: [slow], hold: long }), { now: NOW + 30_000 });
    await takes(fast, 1, NOW + 30_060);
    await takes(slow, 1, NOW + 90_060);
    await settleAs("ended", other, aRelease(3), NOW + 90_060);
    assert.equal(await room(store, slow, NOW + 90_060), 8);
  }),
  it("units that have flowed back into a bucket are not given back again", async (store, other) => {
    await putWithUses(store, KEY);
    const limit = aHeldLimit({ algorithm: "token-bucket", limit: 6, burst: 20, cost: 4 });
    await reserve(store, 1, aReservation({ limits: [limit] }));
    const later = NOW + 40_000;
    await chargeAs("charged", store, aPlan({ cost: 0, limits: [{ ...limit, cost: 20 }] }), {
      now: later,
    });
    await settleAs("ended", store, aRelease(1), later);
    assert.equal(await room(other, limit, later), 0);
  }),
  it("nothing is held of a shadow without room, and an end may name any number of its units", async (store, other) => {
    await putWithUses(store, KEY);
    const limit = aHeldLimit({ shadow: true, cost: 11 });
    await chargeAs("charged", store, aPlan({ cost: 0, limits: [{ ...limit, cost: 9 }] }));
    await reserve(store, 1, aReservation({ limits: [limit] }));
    await reserve(store, 2, aReservation({ limits: [limit] }));
    const { used } = await settleAs("ended", store, anEnd(1, null, { default: 11 }));
    assert.deepEqual(used, { uses: 1, limits: [0] });
    await settleAs("ended", store, aRelease(2));
    assert.equal(await usedOf(other, { window: "60000:default" }), 9);
  }),
  it("windows that the workspace keeps get units back as well", async (store, other) => {
    await putWithUses(store, KEY);
    const window = `a:${KEY.id}:60000:made%20up`;
    const limits = [aHeldLimit({ name: "made up", window, owner: null, cost: 5 })];
    await reserve(store, 1, aReservation({ limits }));
    await settleAs("ended", store, anEnd(1, null, { "made up": 2 }));
    assert.equal(await usedOf(other, { window, owner: null }), 2);
  }),
  it("an end of more than is held, or of what is not held, is refused, and nothing moves", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    await reserve(store, 1, aReservation({ cost: 3, limits: [aHeldLimit({ cost: 4 })] }));
    const [hold] = await holdsOf(store);
    const refusals = [
      [anEnd(1, 4), "over"],
      [anEnd(1, 0, { default: 5 }), "over"],
      [anEnd(1, 1, { other: 0 }), "unnamed"],
      [anEnd(1, 4, { default: 4, other: 1 }), "unnamed"],
    ] as const;
    for (const [step, kind] of refusals)
      assert.deepEqual(await settle(other, step), { kind, hold });
    await assertHolds(store, KEY, { usage: usesOf(7, { holds: sumsOf({ uses: 3 }) }) });
    assert.equal(await usedOf(store, { window: "60000:default" }), 4);
    await settleAs("ended", other, anEnd(1, 3, { default: 4 }));
  }),
  it("an end of uses without a limit cannot name more than was asked for either", async (store) => {
    await putWithUses(store, KEY);
    await reserve(store, 1, aReservation({ cost: 3 }));
    await settleAs("over", store, anEnd(1, 4));
    const { used, usage } = await settleAs("ended", store, anEnd(1, 2));
    assert.deepEqual([used.uses, usage], [2, null]);
  }),
  it("the repeat of an end gets the same answer, whatever has happened since, and moves nothing", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    await reserve(store, 1, aReservation({ cost: 3, limits: [aHeldLimit({ cost: 4 })] }));
    const step = anEnd(1, 1, { default: 2 });
    const first = await settleAs("ended", store, step);
    await chargeAs("charged", store, aPlan({ cost: 5 }));
    await put(store, nextOf(KEY));
    for (const connection of [store, other]) {
      const again = await settle(connection, step, NOW + 600_000);
      assert.deepEqual(again, { ...first, isRepeat: true });
    }
    assert.equal(await left(other), 4);
    assert.equal(await usedOf(other, { window: "60000:default" }), 2);
  }),
  it("an end with other figures than before is a conflict, and so is a renewal", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    const limits = [aHeldLimit({ cost: 4 })];
    await reserve(store, 1, aReservation({ cost: 3, limits }));
    await settleAs("ended", store, anEnd(1, 3, { default: 1 }));
    for (const step of [
      anEnd(1),
      anEnd(1, 2, { default: 1 }),
      anEnd(1, 4, { default: 1 }),
      anEnd(1, 3, { default: 1, other: 1 }),
      aRelease(1),
      renewal(),
    ])
      assert.deepEqual(await settle(other, step), { kind: "conflict" });
    await reserve(store, 2, aReservation({ cost: 0 }));
    await settleAs("ended", store, aRelease(2));
    await settleAs("conflict", other, anEnd(2, 0, { other: 0 }));
    // The same figures in other words.
    await settleAs("ended", other, { ...anEnd(1, null, { default: 1 }), rest: false } as never);
    assert.equal(await left(other), 7);
  }),
  it("of N ends of one hold at once one takes effect, and all get the same answer", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    await reserve(store, 1, aReservation({ cost: 8, limits: [aHeldLimit({ cost: 4 })] }));
    const answers = await race({ store, other }, 12, (each) =>
      settleAs("ended", each, anEnd(1, 1, { default: 1 })),
    );
    const repeats = answers.filter(({ isRepeat }) => isRepeat);
    assert.equal(repeats.length, 11);
    for (const answer of repeats) assert.deepEqual(answer, repeats[0]);
    assert.equal(await left(other), 9);
    assert.equal(await usedOf(other, { window: "60000:default" }), 1);
  }),
  it("of ends with other figures at once one is done, and the others are conflicts", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    await reserve(store, 1, aReservation({ cost: 8 }));
    const answers = await race({ store, other }, 8, (each, number) =>
      settle(each, anEnd(1, number)),
    );
    assert.deepEqual(countByKind(answers), { ended: 1, conflict: 7 });
    const used = answers.findIndex(({ kind }) => kind === "ended");
    assert.equal(await left(other), 10 - used);
  }),
  it("a hold that does not exist is unknown, and so is one of another workspace", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    await putWithUses(store, KEY, usesOf(10), OTHER_WORKSPACE);
    await reserve(store);
    for (const step of [anEnd(), aRelease(), renewal()]) {
      const result = await settle(other, step, NOW, { workspaceId: OTHER_WORKSPACE });
      assert.deepEqual(result, { kind: "unknown" });
    }
    for (const step of [anEnd(2), aRelease(2), renewal(2)]) await settleAs("unknown", other, step);
    assert.deepEqual(await holdsOf(other, KEY, OTHER_WORKSPACE), []);
    await reserve(store, 1, aReservation({ workspaceId: OTHER_WORKSPACE, cost: 4 }));
    await settleAs("ended", store, aRelease());
    assert.equal((await load(other, KEY, OTHER_WORKSPACE)).usage?.remaining, 6);
    await store.settle(OTHER_WORKSPACE, aRefresh(), { now: ENDS, revision: null });
    assert.equal((await load(other, KEY, OTHER_WORKSPACE)).usage?.remaining, 10);
  }),
  it("a step that rests on another revision is stale, and moves nothing", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    await reserve(store);
    for (const step of [anEnd(), renewal(), aRefresh(), anEnd(2)]) {
      const result = await settle(other, step, ENDS, { revision: 1 });
      assert.deepEqual(result, { kind: "stale" });
    }
    await assertHolds(store, KEY, { usage: usesOf(9, { holds: sumsOf({ uses: 1 }) }) });
    await commit(store, { revision: 7 });
    assert.equal(await revisionOf(store), 7);
    assert.equal((await settle(other, anEnd(), NOW, { revision: 7 })).kind, "ended");
    assert.equal((await settle(other, anEnd(), NOW, { revision: 8 })).kind, "stale");
  }),
];
