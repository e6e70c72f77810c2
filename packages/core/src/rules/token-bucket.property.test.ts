import fc from "fast-check";
import { expect, test } from "vitest";
import { attemptTaking } from "../testing/records.js";
import { LAST_INSTANT } from "../time.js";
import { admitsAt, limitAt, resetAt, roomOf } from "./limit-algorithm.js";
import type { LimitFigures, LimitState } from "./limit-state.js";

const algorithm = fc.constant("token-bucket" as const);

/** Small buckets, and buckets with figures at the end of what whole numbers can hold. */
const bucket = fc
  .oneof(
    fc.record({
      algorithm,
      limit: fc.integer({ min: 1, max: 30 }),
      duration: fc.integer({ min: 1, max: 200 }),
      burst: fc.integer({ min: 1, max: 40 }),
    }),
    fc.record({
      algorithm,
      limit: fc.integer({ min: 1, max: 2 ** 50 }),
      duration: fc.integer({ min: 1, max: 2 ** 30 }),
      burst: fc.integer({ min: 1, max: 2 ** 30 }),
    }),
  )
  .filter(
    ({ limit, duration, burst }) =>
      BigInt(burst) * BigInt(duration) + BigInt(limit) <= BigInt(Number.MAX_SAFE_INTEGER),
  );

const schedule = bucket.chain((limit) =>
  fc.record({
    limit: fc.constant(limit),
    steps: fc.array(
      fc.record({
        cost: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: limit.burst + 1 })),
        move: fc.oneof(
          fc.nat({ max: 5 }),
          fc.nat({ max: Math.ceil((2 * limit.burst * limit.duration) / limit.limit) }),
          fc.integer({ min: -50, max: 0 }),
        ),
      }),
      { maxLength: 60 },
    ),
  }),
);

/** The ideal bucket, in big integers: what it holds, in units × `duration`, and when that was. */
class IdealBucket {
  readonly #limit: LimitFigures;
  #level: bigint;
  #at = 0n;

  constructor(limit: LimitFigures) {
    this.#limit = limit;
    this.#level = this.#full;
  }

  get #full(): bigint {
    return BigInt(this.#limit.burst) * BigInt(this.#limit.duration);
  }

  levelAt(now: number): bigint {
    const elapsed = BigInt(now) > this.#at ? BigInt(now) - this.#at : 0n;
    const level = this.#level + elapsed * BigInt(this.#limit.limit);
    return level > this.#full ? this.#full : level;
  }

  take(cost: number, now: number): boolean {
    const price = BigInt(cost) * BigInt(this.#limit.duration);
    if (this.levelAt(now) < price) return false;
    if (cost === 0) return true;
    this.#level = this.levelAt(now) - price;
    this.#at = BigInt(now) > this.#at ? BigInt(now) : this.#at;
    return true;
  }
}

type Plan = typeof schedule extends fc.Arbitrary<infer Value> ? Value : never;

function eachAttempt(
  { limit, steps }: Plan,
  visit: (state: LimitState | null, cost: number, now: number, isAdmitted: boolean) => void,
): void {
  let now = 1_000_000;
  let state: LimitState | null = null;
  for (const { cost, move } of steps) {
    now = Math.min(Math.max(0, now + move), LAST_INSTANT);
    const after = attemptTaking(state, limit, cost, now);
    visit(state, cost, now, after !== null);
    if (after !== null && cost > 0) state = after;
  }
}

test("T1: every decision and every level are those of the ideal bucket", () => {
  fc.assert(
    fc.property(schedule, (plan) => {
      const ideal = new IdealBucket(plan.limit);
      eachAttempt(plan, (state, cost, now, isAdmitted) => {
        const level = Number(ideal.levelAt(now) / BigInt(plan.limit.duration));
        expect(roomOf(limitAt(state, plan.limit, now), plan.limit)).toBe(level);
        expect(isAdmitted).toBe(ideal.take(cost, now));
      });
    }),
    { numRuns: 500 },
  );
});

test("R1: a refused cost is admitted after the computed wait, and not a millisecond before", () => {
  fc.assert(
    fc.property(schedule, (plan) => {
      const { limit } = plan;
      eachAttempt(plan, (state, cost, now, isAdmitted) => {
        if (isAdmitted) return;
        const instant = admitsAt(limitAt(state, limit, now), limit, cost);
        expect(instant === null).toBe(cost > limit.burst);
        if (instant === null || instant > LAST_INSTANT) return;
        expect(attemptTaking(state, limit, cost, instant)).not.toBeNull();
        expect(attemptTaking(state, limit, cost, instant - 1)).toBeNull();
      });
    }),
    { numRuns: 400 },
  );
});

test("a reset is the first instant at which the bucket is full", () => {
  fc.assert(
    fc.property(schedule, (plan) => {
      const { limit } = plan;
      eachAttempt(plan, (state, _cost, now) => {
        const instant = resetAt(limitAt(state, limit, now), limit);
        if (instant > LAST_INSTANT) return;
        expect(limitAt(state, limit, instant).used).toBe(0);
        if (instant > now) expect(limitAt(state, limit, instant - 1).used).toBeGreaterThan(0);
      });
    }),
    { numRuns: 400 },
  );
});

test("another limit or burst keeps what was taken, and it flows back at the new rate", () => {
  const limit = { algorithm: "token-bucket", limit: 10, duration: 1_000, burst: 10 } as const;
  const state = attemptTaking(null, limit, 8, 0);
  const roomAt = (now: number, changed: Partial<LimitFigures>) =>
    roomOf(limitAt(state, { ...limit, ...changed }, now), { ...limit, ...changed });
  expect(roomAt(0, { burst: 20 })).toBe(12);
  expect(roomAt(7, { limit: 1_000 })).toBe(9);
  expect(roomAt(8, { limit: 1_000 })).toBe(10);
  expect(roomAt(299, { burst: 5 })).toBe(-1);
  expect(roomAt(300, { burst: 5 })).toBe(0);
});
