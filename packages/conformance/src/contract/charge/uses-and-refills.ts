import assert from "node:assert/strict";
import { it, type StoreContract } from "../../fixtures/context.js";
import {
  aLimit,
  aPlan,
  aPlanOfLimits,
  charge,
  chargeAs,
  confirmed,
  usedOf,
} from "../../fixtures/plans.js";
import { countByKind, race } from "../../fixtures/race.js";
import {
  aRecord,
  assertGone,
  assertHolds,
  at,
  atFirst,
  aUsageChange,
  commit,
  DAY,
  IDENTITY,
  KEY,
  load,
  NOW,
  put,
  putWithUses,
  revisionOf,
  usesOf,
} from "../../fixtures/records.js";

const MIDNIGHT = NOW - (NOW % DAY);
const EXHAUSTED = usesOf(0, { refilledAt: MIDNIGHT - DAY });
const REFILL = { amount: 100, dueAt: MIDNIGHT };

/** A plan of a key that draws on the uses of its identity. */
const planOfIdentity = (version: number | null = 1) =>
  aPlan({
    uses: 1,
    confirms: [...atFirst(at("key")), { ...at("identity"), version }],
  });

export const usesAndRefillContracts: readonly StoreContract[] = [
  it("a charge takes its cost from the uses, down to the last one", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    for (const [cost, remaining] of [
      [3, 2],
      [0, 2],
      [2, 0],
    ] as const) {
      assert.deepEqual(await charge(other, aPlan({ cost })), {
        kind: "charged",
        remaining,
        limits: [],
      });
      await assertHolds(store, KEY, { usage: usesOf(remaining) });
    }
  }),
  it("a cost above the uses left is refused and takes nothing, and so is any cost, even 0, if none are left", async (store, other) => {
    await putWithUses(store, KEY, usesOf(2));
    const refused = (remaining: number) => ({ kind: "usage-exceeded", remaining, limits: [] });
    assert.deepEqual(await charge(other, aPlan({ cost: 3 })), refused(2));
    await assertHolds(store, KEY, { usage: usesOf(2) });
    await chargeAs("charged", other, aPlan({ cost: 2 }));
    for (const cost of [0, 1]) assert.deepEqual(await charge(other, aPlan({ cost })), refused(0));
    await assertHolds(store, KEY, { usage: usesOf(0) });
  }),
  it("uses without a limit are charged at any cost and stay without a limit", async (store, other) => {
    await putWithUses(store, KEY, usesOf(null));
    const expected = { kind: "charged", remaining: null, limits: [] };
    assert.deepEqual(await charge(other, aPlan({ cost: 1_000 })), expected);
    await assertHolds(store, KEY, { usage: usesOf(null) });
  }),
  it("a plan that counts no uses takes none", async (store, other) => {
    await putWithUses(store, KEY, usesOf(2));
    const expected = { kind: "charged", remaining: null, limits: [] };
    assert.deepEqual(await charge(other, aPlan({ uses: null, cost: 5 })), expected);
    await assertHolds(store, KEY, { usage: usesOf(2) });
  }),
  it("the uses are those of the record that the plan says, in any place of it", async (store, other) => {
    await putWithUses(store, KEY, usesOf(2));
    await putWithUses(store, IDENTITY, usesOf(10));
    const { remaining } = await chargeAs("charged", other, planOfIdentity());
    assert.equal(remaining, 9);
    await assertHolds(store, KEY, { usage: usesOf(2) });
    await assertHolds(store, IDENTITY, { usage: usesOf(9) });
  }),
  it("a record that does not exist has no uses left", async (store, other) => {
    await putWithUses(store, KEY, usesOf(2));
    assert.deepEqual(await charge(other, planOfIdentity(null)), {
      kind: "usage-exceeded",
      remaining: 0,
      limits: [],
    });
    await assertHolds(store, KEY, { usage: usesOf(2) });
  }),
  it("keys of one identity draw from its uses, and of N charges at once exactly as many go through", async (store, other) => {
    const keys = [1, 2, 3, 4].map((number) => aRecord("key", number));
    await put(store, ...keys);
    await putWithUses(store, IDENTITY, usesOf(9));
    const results = await race({ store, other }, 40, (each, number) =>
      charge(
        each,
        aPlan({
          uses: 1,
          confirms: atFirst(at("key", 1 + (number % 4)), at("identity")),
        }),
      ),
    );
    assert.deepEqual(countByKind(results), { charged: 9, "usage-exceeded": 31 });
    await assertHolds(other, IDENTITY, { usage: usesOf(0) });
  }),
  it("of N charges at once exactly as many go through as there are uses, each with its own number left", async (store, other) => {
    await putWithUses(store, KEY, usesOf(17));
    const plans = [aPlan(), aPlan()];
    const results = await race({ store, other }, 60, (each, number) =>
      charge(each, plans[number % 2]),
    );
    assert.deepEqual(countByKind(results), { charged: 17, "usage-exceeded": 43 });
    const left = results.flatMap((result) => (result.kind === "charged" ? result.remaining : []));
    assert.deepEqual(
      left.toSorted((one, two) => Number(one) - Number(two)),
      left.map((_, index) => index),
    );
    await assertHolds(other, KEY, { usage: usesOf(0) });
  }),
  it("charges of several costs at once take exactly what those that went through cost", async (store, other) => {
    await putWithUses(store, KEY, usesOf(50));
    const results = await race({ store, other }, 40, (each, number) =>
      charge(each, aPlan({ cost: 1 + (number % 5) })),
    );
    const taken = results.map(({ kind }, number) => (kind === "charged" ? 1 + (number % 5) : 0));
    const total = taken.reduce((sum, cost) => sum + cost, 0);
    const { usage } = await load(other, KEY);
    assert.equal(usage?.remaining, 50 - total);
    assert.ok(total > 45, "a charge was refused that there were uses for");
  }),
  it("a refill that is owed comes before the charge, and is stored with it", async (store, other) => {
    await putWithUses(store, KEY, EXHAUSTED);
    const { remaining } = await chargeAs("charged", other, aPlan(), { refill: REFILL });
    assert.equal(remaining, 99);
    const usage = { remaining: 99, refilledAt: MIDNIGHT, lastRefillAt: MIDNIGHT };
    await assertHolds(store, KEY, { usage });
  }),
  it("a refill is applied once, and a later one again", async (store, other) => {
    await putWithUses(store, KEY, EXHAUSTED);
    await chargeAs("charged", store, aPlan({ cost: 100 }), { refill: REFILL });
    await chargeAs("usage-exceeded", other, aPlan(), { refill: REFILL });
    const next = { amount: 7, dueAt: MIDNIGHT + DAY };
    const { remaining } = await chargeAs("charged", other, aPlan(), { refill: next });
    assert.equal(remaining, 6);
    const earlier = { amount: 50, dueAt: MIDNIGHT };
    await chargeAs("charged", other, aPlan({ cost: 6 }), { refill: earlier });
    await chargeAs("usage-exceeded", store, aPlan(), { refill: earlier });
  }),
  it("a refill at the instant up to which refills are applied is not owed, and one millisecond later it is", async (store, other) => {
    await putWithUses(store, KEY, usesOf(0, { refilledAt: MIDNIGHT }));
    await chargeAs("usage-exceeded", other, aPlan(), { refill: REFILL });
    const later = { amount: 1, dueAt: MIDNIGHT + 1 };
    await chargeAs("charged", other, aPlan(), { refill: later });
    const usage = { remaining: 0, refilledAt: MIDNIGHT + 1, lastRefillAt: MIDNIGHT + 1 };
    await assertHolds(store, KEY, { usage });
  }),
  it("a refill never lowers what is left, and is stored all the same", async (store, other) => {
    await putWithUses(store, KEY, usesOf(500, { refilledAt: MIDNIGHT - 1 }));
    const { remaining } = await chargeAs("charged", other, aPlan({ cost: 0 }), {
      refill: REFILL,
    });
    assert.equal(remaining, 500);
    const usage = { remaining: 500, refilledAt: MIDNIGHT, lastRefillAt: MIDNIGHT };
    await assertHolds(store, KEY, { usage });
  }),
  it("a refill leaves uses without a limit as they are", async (store, other) => {
    const usage = usesOf(null, { refilledAt: 0 });
    await putWithUses(store, KEY, usage);
    const result = await chargeAs("charged", other, aPlan(), { refill: REFILL });
    assert.equal(result.remaining, null);
    await assertHolds(store, KEY, { usage });
  }),
  it("a refusal shows a refill that is owed, and does not store it", async (store, other) => {
    await putWithUses(store, KEY, EXHAUSTED);
    const plan = aPlan({ cost: 101 });
    const exceeded = await chargeAs("usage-exceeded", other, plan, { refill: REFILL });
    assert.equal(exceeded.remaining, 100);
    const full = { ...aPlan({ limits: [aLimit({ cost: 11 })] }) };
    const limited = await chargeAs("rate-limited", other, full, { refill: REFILL });
    assert.equal(limited.remaining, 100);
    await assertHolds(store, KEY, { usage: EXHAUSTED });
  }),
  it("of N charges at once one applies the refill, and all together take no more than it gave", async (store, other) => {
    await putWithUses(store, KEY, EXHAUSTED);
    const refill = { amount: 6, dueAt: MIDNIGHT };
    const results = await race({ store, other }, 30, (each) => charge(each, aPlan(), { refill }));
    assert.deepEqual(countByKind(results), { charged: 6, "usage-exceeded": 24 });
  }),
  it("a charge moves neither a version, a body nor the revision", async (store, other) => {
    const record = aRecord("key", 1, { version: 3, body: { name: "a" } });
    await putWithUses(store, record, usesOf(5));
    await commit(store, { revision: 1 });
    const confirms = [{ ...at("key"), version: 3 }];
    await chargeAs("charged", other, aPlan({ confirms, revision: 1, limits: [aLimit()] }));
    await assertHolds(other, record, { usage: usesOf(4) });
    assert.equal(await revisionOf(other), 1);
  }),
  it("one plan is used many times, and each charge is its own", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    const plan = aPlan({ confirms: [confirmed(await load(store, KEY))], limits: [aLimit()] });
    for (const connection of [store, other, store, other, store])
      await chargeAs("charged", connection, plan);
    await chargeAs("usage-exceeded", other, plan);
    assert.equal(await usedOf(other), 5);
  }),
  it("a plan that two stores use in turn takes from each of them", async (store, _, context) => {
    const another = await context.openEmpty();
    try {
      const plan = aPlan();
      await putWithUses(store, KEY, usesOf(5));
      await chargeAs("charged", store, plan);
      assert.equal((await chargeAs("stale", another.store, plan)).moved, 0);
      await putWithUses(another.store, KEY, usesOf(9));
      await chargeAs("charged", another.store, plan);
      await chargeAs("charged", store, plan);
      await assertHolds(store, KEY, { usage: usesOf(3) });
      await assertHolds(another.store, KEY, { usage: usesOf(8) });
    } finally {
      await another.close();
    }
  }),
  it("a plan that is copied from another confirms and moves its own records", async (store) => {
    await putWithUses(store, KEY, usesOf(5));
    await putWithUses(store, aRecord("key", 2), usesOf(9));
    const plan = aPlan({ limits: [aLimit()] });
    await chargeAs("charged", store, plan);
    const confirms = atFirst(at("key", 2));
    await chargeAs("charged", store, {
      ...plan,
      confirms,
      cost: 2,
      limits: [aLimit({ cost: 3 })],
    });
    await assertHolds(store, KEY, { usage: usesOf(4) });
    await assertHolds(store, aRecord("key", 2), { usage: usesOf(7) });
    assert.deepEqual([await usedOf(store), await usedOf(store, { owner: at("key", 2) })], [1, 3]);
  }),
  it("a plan that only looks answers what a charge would, and moves nothing", async (store, other) => {
    await putWithUses(store, KEY, EXHAUSTED);
    const limits = [aLimit(), aLimit({ name: "other", cost: 4 })];
    const peek = await charge(other, aPlan({ mode: "peek", limits }), { refill: REFILL });
    await assertHolds(store, KEY, { usage: EXHAUSTED });
    assert.deepEqual([await usedOf(other), await usedOf(other, { window: "other" })], [0, 0]);
    assert.deepEqual(peek, await charge(store, aPlan({ limits }), { refill: REFILL }));
  }),
  it("charges beside changes to the uses lose none of either", async (store, other) => {
    await putWithUses(store, KEY, usesOf(100));
    const usage = aUsageChange({ kind: "increment", by: 3 });
    await race({ store, other }, 40, async (each, number) => {
      if (number % 2 === 0) await chargeAs("charged", each, aPlan());
      else await commit(each, { counters: [{ ...at("key"), usage }] });
    });
    await assertHolds(other, KEY, { usage: usesOf(100 - 20 + 60) });
  }),
  it("charges beside the deletion of their record bring nothing of it back", async (store, other) => {
    for (let round = 0; round < 5; round += 1) {
      await putWithUses(store, KEY, usesOf(50));
      const results = await race({ store, other }, 20, async (connection, number) => {
        if (number === 7) await commit(connection, { deletes: [KEY] });
        return charge(connection, aPlan({ limits: [aLimit()] }));
      });
      assert.equal(results[7]?.kind, "stale");
      for (const { kind } of results) assert.match(kind, /^(charged|rate-limited|stale)$/);
      await assertGone(other, KEY);
      await putWithUses(other, KEY, usesOf(3));
      await assertHolds(store, KEY, { usage: usesOf(3) });
      assert.equal(await usedOf(store), 0);
    }
  }),
  it("a window may be as long as 2^53 − 1 ms, and counts until then", async (store, other) => {
    await putWithUses(store, KEY);
    const fields = { duration: Number.MAX_SAFE_INTEGER, limit: 3, cost: 2 };
    for (const owner of [0, null]) {
      const plan = aPlanOfLimits([aLimit({ ...fields, owner, window: "long" })]);
      const { limits } = await chargeAs("charged", store, plan);
      assert.equal(limits[0]?.resetAt, Number.MAX_SAFE_INTEGER);
      await chargeAs("rate-limited", other, plan, { now: NOW + 1_000 * 365 * DAY });
    }
  }),
  it("a record without counters counts nothing, and is given none by a charge", async (store, other) => {
    await put(store, KEY);
    for (const connection of [store, other]) {
      await chargeAs("charged", connection, aPlanOfLimits([aLimit({ limit: 1 })]));
      await chargeAs("usage-exceeded", connection, aPlan());
    }
    await assertHolds(other, KEY, { usage: null });
    await putWithUses(store, KEY, usesOf(1));
    await chargeAs("charged", other, aPlan({ limits: [aLimit({ limit: 1 })] }));
  }),
];
