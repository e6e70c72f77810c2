import fc from "fast-check";
import { expect, test } from "vitest";
import type { LimitState } from "./limit-state.js";
import { afterReturn } from "./returned-units.js";
import { bucketAt } from "./token-bucket.js";

const DURATION = 40;
const KIND = { algorithm: "token-bucket", duration: DURATION } as const;
const NONE: readonly number[] = [];

const bucket = fc.record({
  rate: fc.integer({ min: 1, max: 90 }),
  /** Missing when units were held, those included. */
  missing: fc.nat({ max: 4_000 }),
  units: fc.integer({ min: 1, max: 50 }),
  /** Until something else was taken, and until units came back. */
  pauses: fc.tuple(fc.nat({ max: 60 }), fc.nat({ max: 60 })),
  taken: fc.nat({ max: 40 }),
});

test("a bucket gets at least what has not flowed in since, and never gets fuller than full, or than it had been", () => {
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

test("what comes back in parts is what comes back at once, but for a bucket", () => {
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
