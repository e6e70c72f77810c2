import assert from "node:assert/strict";
import type { KeyStore, LimitCharge } from "@latchkey/core";
import fc from "fast-check";
import { it, type StoreContract } from "../../fixtures/context.js";
import { aLimit, aPlanOfLimits, charge, chargeAs } from "../../fixtures/plans.js";
import { everyRun, runsOf } from "../../fixtures/random.js";
import { aRecord, NOW, putWithUses } from "../../fixtures/records.js";

const SPAN = 1_600;
const SLIDING = aLimit({ algorithm: "sliding", limit: 6, duration: SPAN });
const BUCKET = aLimit({ algorithm: "token-bucket", limit: 7, duration: SPAN, burst: 10 });

/** Attempts on a limit and their times: mostly close together, now and then by a clock that was set back. */
const attempts = fc.array(
  fc.record({
    cost: fc.nat({ max: 4 }),
    move: fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 2_000 }), fc.integer({ min: -500, max: 0 })),
  }),
  { minLength: 20, maxLength: 40 },
);

/** One attempt, and the result of the store. */
interface Attempt {
  readonly cost: number;
  /** By the limit's time, which no clock sets back. */
  readonly at: number;
  readonly isAdmitted: boolean;
  readonly remaining: number;
  /** Whether a request at an instant after `at` was refused for want of room, as it was foretold. */
  readonly exceeded: boolean;
}

/** Charges a limit from which nothing else takes. `window`: unique to this run. */
async function chargeEach(
  store: KeyStore,
  limit: LimitCharge,
  window: string,
  steps: readonly { readonly cost: number; readonly move: number }[],
): Promise<readonly Attempt[]> {
  const made: Attempt[] = [];
  let [now, latest] = [NOW, 0];
  for (const { cost, move } of steps) {
    now += move;
    const result = await charge(store, aPlanOfLimits([{ ...limit, window, cost }]), { now });
    assert.ok("limits" in result);
    const [reading] = result.limits;
    const isAdmitted = result.kind === "charged";
    const at = Math.max(now, latest);
    if (isAdmitted && cost > 0) latest = at;
    const { remaining = -1, exceeded = false } = reading ?? {};
    made.push({ cost, at, isAdmitted, remaining, exceeded });
  }
  return made;
}

/** Units admitted in (from, to] by the attempts before one. */
function admitted(made: readonly Attempt[], before: number, from: number, to: number): number {
  return made
    .slice(0, before)
    .filter(({ isAdmitted, at }) => isAdmitted && at > from && at <= to)
    .reduce((sum, { cost }) => sum + cost, 0);
}

export const algorithmContracts: readonly StoreContract[] = [
  it("S1, S2: a sliding limit admits what fits into the span before it, of its own length and a sixteenth more", async (store, other, context) => {
    await putWithUses(store, aRecord("key"));
    await everyRun(attempts, runsOf(8, context.share), async (steps, run) => {
      const made = await chargeEach(other, SLIDING, `run-${run}`, steps);
      for (const [index, { cost, at, isAdmitted }] of made.entries()) {
        const most = SLIDING.limit - cost;
        if (isAdmitted) assert.ok(admitted(made, index, at - SPAN, at) <= most, `S1 at ${index}`);
        else assert.ok(admitted(made, index, at - SPAN - SPAN / 16, at) > most, `S2 at ${index}`);
      }
    });
  }),
  it("units of a sliding limit come back when their group is a span old, and not a millisecond earlier", async (store, other) => {
    await putWithUses(store, aRecord("key"));
    const groupEndsAt = NOW - (NOW % (SPAN / 16)) + SPAN / 16;
    const all = aPlanOfLimits([{ ...SLIDING, cost: SLIDING.limit }]);
    await chargeAs("charged", store, all, { now: groupEndsAt - 1 });
    await chargeAs("rate-limited", other, all, { now: groupEndsAt - 1 + SPAN - 1 });
    await chargeAs("charged", other, all, { now: groupEndsAt - 1 + SPAN });
  }),
  it("T1: a token bucket decides as the ideal one, and says what it holds", async (store, other, context) => {
    await putWithUses(store, aRecord("key"));
    await everyRun(attempts, runsOf(8, context.share), async (steps, run) => {
      const full = BigInt(BUCKET.burst * SPAN);
      let [level, levelAt] = [full, 0n];
      for (const each of await chargeEach(other, BUCKET, `run-${run}`, steps)) {
        const flowed = level + (BigInt(each.at) - levelAt) * BigInt(BUCKET.limit);
        const held = flowed > full ? full : flowed;
        const price = BigInt(each.cost * SPAN);
        assert.equal(each.isAdmitted, price <= held);
        const left = each.isAdmitted ? held - price : held;
        assert.equal(each.remaining, Number(left / BigInt(SPAN)));
        if (each.isAdmitted && each.cost > 0) [level, levelAt] = [left, BigInt(each.at)];
      }
    });
  }),
  it("D1: a shadow counts as if it refused, and refuses nobody", async (store, other, context) => {
    await putWithUses(store, aRecord("key"));
    for (const limit of [aLimit({ limit: 6, duration: SPAN }), SLIDING, BUCKET])
      await everyRun(attempts, runsOf(3, context.share), async (steps, run) => {
        const name = `${limit.algorithm}-run-${run}`;
        const real = await chargeEach(other, limit, name, steps);
        const tried = await chargeEach(other, { ...limit, shadow: true }, `${name}-shadow`, steps);
        for (const [index, { isAdmitted, exceeded, remaining }] of real.entries()) {
          const expected = { ...tried[index], isAdmitted: true, exceeded, remaining };
          assert.deepEqual(tried[index], expected);
          assert.equal(exceeded, !isAdmitted);
        }
      });
  }),
  it("limits of all algorithms are taken from together, or none is", async (store, other) => {
    await putWithUses(store, aRecord("key"));
    const narrow = aLimit({ name: "narrow", limit: 2 });
    const sliding = { ...SLIDING, name: "sliding", window: "sliding" };
    const bucket = { ...BUCKET, name: "bucket", window: "bucket" };
    const shadow = { ...BUCKET, name: "shadow", window: "shadow", burst: 1, shadow: true };
    const limits = [sliding, narrow, bucket, shadow];
    await chargeAs("charged", store, aPlanOfLimits(limits));
    const costly = limits.map((limit) => ({ ...limit, cost: 2 }));
    await chargeAs("rate-limited", other, aPlanOfLimits(costly));
    const { limits: left } = await chargeAs("charged", other, aPlanOfLimits(limits));
    assert.deepEqual(
      left.map(({ remaining, exceeded }) => [remaining, exceeded]),
      [
        [4, false],
        [0, false],
        [8, false],
        [0, true],
      ],
    );
  }),
  it("a limit without an owner is kept like one of a record, whatever its algorithm", async (store, other) => {
    for (const { algorithm } of [SLIDING, BUCKET]) {
      const limit = { ...BUCKET, algorithm, limit: 4, burst: 4, owner: null, window: algorithm };
      const plan = aPlanOfLimits([{ ...limit, cost: 3 }], { confirms: [] });
      await chargeAs("charged", store, plan);
      await chargeAs("rate-limited", other, plan, { now: NOW + 1 });
      await chargeAs("charged", other, plan, { now: NOW + 2 * SPAN });
    }
  }),
  it("a cost that never fits is refused, however large it is", async (store, other) => {
    await putWithUses(store, aRecord("key"));
    for (const limit of [SLIDING, BUCKET])
      for (const uses of [null, 0]) {
        const costly = { ...limit, duration: 2 ** 40, window: `${limit.algorithm}-${uses}` };
        const planOf = (cost: number) => aPlanOfLimits([{ ...costly, cost }], { uses });
        for (const cost of [limit.burst + 1, Number.MAX_SAFE_INTEGER])
          await chargeAs("rate-limited", other, planOf(cost));
        await chargeAs("charged", other, planOf(1));
      }
  }),
  it("the figures of a bucket may be as large as whole numbers allow", async (store, other) => {
    await putWithUses(store, aRecord("key"));
    const duration = 2 ** 26;
    const burst = 2 ** 27 - 1;
    const large = { ...BUCKET, duration, burst, limit: 2 ** 26 - 1, window: "large" };
    await chargeAs("charged", store, aPlanOfLimits([{ ...large, cost: burst - 1 }]));
    const { limits } = await chargeAs("charged", other, aPlanOfLimits([large]));
    assert.equal(limits[0]?.remaining, 0);
    const one = aPlanOfLimits([large]);
    await chargeAs("rate-limited", other, one, { now: NOW + 1 });
    await chargeAs("charged", other, one, { now: NOW + 2 });
  }),
];
