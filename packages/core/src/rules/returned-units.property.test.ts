import fc from "fast-check";
import { expect, test } from "vitest";
import type { HeldLimit } from "./hold.js";
import type { LimitState } from "./limit-state.js";
import { afterReturn } from "./returned-units.js";
import { bucketAfterTaking, bucketAt, bucketFlowed } from "./token-bucket.js";

const DURATION = 40;
const KIND = { algorithm: "token-bucket", duration: DURATION } as const;
const NONE: readonly number[] = [];

const bucket = fc.record({
  rate: fc.integer({ min: 1, max: 90 }),
  /** Missing when the units were held, including them. */
  missing: fc.nat({ max: 4_000 }),
  units: fc.integer({ min: 1, max: 50 }),
  /** Until something else was taken, and until the units came back. */
  pauses: fc.tuple(fc.nat({ max: 60 }), fc.nat({ max: 60 })),
  taken: fc.nat({ max: 40 }),
});

test("a bucket gets back at least what has not flowed in since, and never gets fuller than full or than before", () => {
  fc.assert(
    fc.property(bucket, ({ rate, missing, units, pauses: [first, second], taken }) => {
      const held = { window: "t40:b", owner: 0, units, at: 1_000, rate };
      const figures = { limit: rate, duration: DURATION };
      const own = units * DURATION;
      const before = { at: 1_000, used: own + missing, earlier: NONE };
      const now = 1_000 + first + second;
      const atTaking = bucketAt(before, figures, 1_000 + first);
      const state = { ...atTaking, used: atTaking.used + taken * DURATION };
      const after = bucketAt(afterReturn(state, KIND, held, units, now), figures, now);
      const without = bucketAt(state, figures, now).used;
      const due = Math.max(0, own - (first + second) * rate);
      expect(after.used).toBeLessThanOrEqual(Math.max(0, without - due));
      // Had they never been taken.
      const ideal = Math.max(0, missing - first * rate) + taken * DURATION;
      expect(after.used).toBeGreaterThanOrEqual(Math.max(0, ideal - second * rate));
      expect(after.at).toBeGreaterThanOrEqual(state.at);
    }),
    { numRuns: 1_000 },
  );
});

const steps = fc.array(
  fc.record({
    /** Time before this taking. */
    pause: fc.nat({ max: 60 }),
    /** Units per `DURATION` by now. */
    rate: fc.constantFrom(1, 3, 40, 1_000),
    units: fc.integer({ min: 1, max: 40 }),
    /** Taken for good; reserved; or the end of the reservation before, at a share of what it holds. */
    does: fc.constantFrom("take" as const, "reserve" as const, "reserve" as const, "end" as const),
    used: fc.constantFrom(0, 0.5, 1),
  }),
  { minLength: 2, maxLength: 20 },
);

interface BucketTaking {
  readonly at: number;
  readonly rate: number;
  /** Without what came back. */
  units: number;
}

/** What is missing from a bucket after all takings, as if none had ever taken more than it used. */
function missingAfter(takings: readonly BucketTaking[]): number {
  let missing = 0;
  let last = 0;
  for (const { at, rate, units } of takings) {
    missing = Math.max(0, missing - (at - last) * rate) + units * DURATION;
    last = at;
  }
  return missing;
}

test("T2, H2: even if the rate changes, no bucket is fuller than if returned units had never been taken, and it gets back what has not flowed in", () => {
  fc.assert(
    fc.property(steps, (plan) => {
      const takings: BucketTaking[] = [];
      const open: { taking: BucketTaking; held: HeldLimit }[] = [];
      let state: LimitState | null = null;
      let now = 1_000;
      for (const { pause, rate, units, does, used } of plan) {
        now += pause;
        const ended = does === "end" ? open.shift() : undefined;
        if (ended !== undefined && state !== null) {
          const { taking, held } = ended;
          const back = held.units - Math.floor(held.units * used);
          taking.units -= back;
          const since = takings.slice(takings.indexOf(taking) + 1);
          const inflow = since.reduce(
            ({ sum, last }, each) => ({ sum: sum + (each.at - last) * each.rate, last: each.at }),
            { sum: 0, last: taking.at },
          ).sum;
          const most = Math.max(0, state.used - Math.max(0, back * DURATION - inflow));
          if (back > 0) state = afterReturn(state, KIND, held, back, now);
          expect(state.used).toBeLessThanOrEqual(most);
        } else if (does !== "end") {
          const current = bucketAt(state, { limit: rate, duration: DURATION }, now);
          state = bucketAfterTaking(current, { duration: DURATION }, units, 0, does === "reserve");
          const taking = { at: state.at, rate, units };
          takings.push(taking);
          const flowed = bucketFlowed(state);
          const held = { window: "t40:b", owner: 0, units, at: state.at, rate, flowed };
          if (does === "reserve") open.push({ taking, held });
        }
        expect(state?.used ?? 0).toBeGreaterThanOrEqual(missingAfter(takings));
      }
    }),
    { numRuns: 1_500 },
  );
});

test("an inflow counter that would exceed the safe integers restarts, and older reservations use the rate", () => {
  const limit = { limit: 5, duration: DURATION };
  const reserved = bucketAfterTaking({ at: 1_000, used: 0, earlier: NONE }, limit, 9, 0, true);
  const [leased = 0, , since = 0] = reserved.earlier;
  const full = { ...reserved, earlier: [leased, Number.MAX_SAFE_INTEGER - 2, since] };
  const held = { window: "t40:b", owner: 0, units: 9, at: 1_000, rate: 5, flowed: 0 };
  const later = bucketAt(full, limit, 1_010);
  expect(later).toEqual({ at: 1_010, used: 310, earlier: [0, 0, 1_010] });
  const counted = { ...held, flowed: Number.MAX_SAFE_INTEGER - 2 };
  expect(afterReturn(later, KIND, counted, 9, 1_010).used).toBe(0);
  expect(afterReturn({ ...later, used: 500 }, KIND, counted, 9, 1_010).used).toBe(500 - 310);
});

test("units returned in parts have the same effect as all at once, except for a bucket", () => {
  const state: fc.Arbitrary<LimitState> = fc.record({
    at: fc.integer({ min: 960, max: 1_100 }),
    used: fc.integer({ min: 20, max: 60 }),
    earlier: fc.array(fc.integer({ min: 20, max: 60 }), { maxLength: 16 }),
  });
  fc.assert(
    fc.property(
      state,
      fc.constantFrom("fixed" as const, "sliding" as const, "concurrent" as const),
      fc.nat({ max: 10 }),
      fc.nat({ max: 10 }),
      fc.integer({ min: 900, max: 1_100 }),
      (current, algorithm, one, other, at) => {
        const kind = { algorithm, duration: DURATION };
        const held = { window: "any", owner: 0, units: one + other, at, rate: 0 };
        const back = (from: LimitState, units: number) =>
          afterReturn(from, kind, held, units, 1_100);
        expect(back(back(current, one), other)).toEqual(back(current, one + other));
        expect(back(current, 0)).toEqual(current);
      },
    ),
  );
});
