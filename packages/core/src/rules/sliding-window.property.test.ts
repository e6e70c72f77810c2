import fc from "fast-check";
import { expect, test } from "vitest";
import { attemptTaking } from "../testing/records.js";
import { LAST_INSTANT } from "../time.js";
import { admitsAt, limitAt, resetAt, roomOf } from "./limit-algorithm.js";
import type { LimitState } from "./limit-state.js";

const duration = fc.oneof(
  fc.integer({ min: 1, max: 40 }),
  fc.integer({ min: 1, max: 5_000 }),
  fc.constantFrom(2 ** 40, 2 ** 52),
);

/** Random attempts, most of them close together, by a clock that is now and then set back. */
const schedule = duration.chain((span) =>
  fc.record({
    limit: fc.record({
      algorithm: fc.constant("sliding" as const),
      duration: fc.constant(span),
      limit: fc.integer({ min: 1, max: 20 }),
      burst: fc.constant(1),
    }),
    steps: fc.array(
      fc.record({
        cost: fc.nat({ max: 8 }),
        move: fc.oneof(
          fc.nat({ max: Math.ceil(span / 8) }),
          fc.nat({ max: 2 * span }),
          fc.integer({ min: -span, max: 0 }),
        ),
      }),
      { maxLength: 60 },
    ),
  }),
);

interface Attempt {
  readonly state: LimitState | null;
  readonly cost: number;
  readonly now: number;
  readonly isAdmitted: boolean;
  /** What was admitted before, and when, by the limit's time. */
  readonly log: readonly { readonly at: number; readonly cost: number }[];
}

type Plan = typeof schedule extends fc.Arbitrary<infer Value> ? Value : never;

function attemptsOf({ limit, steps }: Plan): readonly Attempt[] {
  let now = 1_000_000;
  let state: LimitState | null = null;
  let log: Attempt["log"] = [];
  return steps.map(({ cost, move }) => {
    now = Math.min(Math.max(0, now + move), LAST_INSTANT);
    const before = { state, cost, now, log };
    const after = attemptTaking(state, limit, cost, now);
    if (after !== null && cost > 0) log = [...log, { at: after.at, cost }];
    if (after !== null && cost > 0) state = after;
    return { ...before, isAdmitted: after !== null };
  });
}

/** Units admitted in (from, to]. */
function admittedIn(log: Attempt["log"], from: number, to: number): number {
  return log.reduce((sum, { at, cost }) => sum + (at > from && at <= to ? cost : 0), 0);
}

test("S1: in no span of its duration are more than limit units admitted", () => {
  fc.assert(
    fc.property(schedule, (plan) => {
      const log = attemptsOf(plan).at(-1)?.log ?? [];
      for (const { at } of log)
        expect(admittedIn(log, at - plan.limit.duration, at)).toBeLessThanOrEqual(plan.limit.limit);
    }),
    { numRuns: 400 },
  );
});

test("S2: a refused cost would not fit beside the units of the span and a sixteenth more", () => {
  fc.assert(
    fc.property(schedule, (plan) => {
      const { duration, limit } = plan.limit;
      for (const { isAdmitted, cost, now, log, state } of attemptsOf(plan)) {
        if (isAdmitted) continue;
        const at = Math.max(now, state?.at ?? 0);
        const counted = admittedIn(log, at - duration - Math.ceil(duration / 16), at);
        expect(counted + cost).toBeGreaterThan(limit);
      }
    }),
    { numRuns: 400 },
  );
});

test("R1: a refused cost is admitted after the computed wait, and not a millisecond before", () => {
  fc.assert(
    fc.property(schedule, ({ limit, ...plan }) => {
      for (const { isAdmitted, cost, now, state } of attemptsOf({ limit, ...plan })) {
        if (isAdmitted) continue;
        const instant = admitsAt(limitAt(state, limit, now), limit, cost);
        expect(instant === null).toBe(cost > limit.limit);
        if (instant === null || instant > LAST_INSTANT) continue;
        expect(attemptTaking(state, limit, cost, instant)).not.toBeNull();
        expect(attemptTaking(state, limit, cost, instant - 1)).toBeNull();
      }
    }),
    { numRuns: 400 },
  );
});

test("a reset is the first instant at which the whole limit is available", () => {
  fc.assert(
    fc.property(schedule, ({ limit, ...plan }) => {
      for (const { now, state } of attemptsOf({ limit, ...plan })) {
        const instant = resetAt(limitAt(state, limit, now), limit);
        if (instant > LAST_INSTANT) continue;
        expect(roomOf(limitAt(state, limit, instant), limit)).toBe(limit.limit);
        if (instant > now)
          expect(roomOf(limitAt(state, limit, instant - 1), limit)).toBeLessThan(limit.limit);
      }
    }),
    { numRuns: 500 },
  );
});

test("at most sixteen groups are kept besides the latest", () => {
  fc.assert(
    fc.property(schedule, (plan) => {
      for (const { state } of attemptsOf(plan))
        expect(state?.earlier.length ?? 0).toBeLessThanOrEqual(16);
    }),
  );
});
