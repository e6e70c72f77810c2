import fc from "fast-check";
import { expect, test } from "vitest";
import { NO_HOLDS, type Raise, raisesWith, usesAfterRaises } from "./hold.js";

/** A refill adds at most `units`, and raises uses to at most `amount`. */
interface Refill {
  readonly amount: number;
  readonly units: number;
}
const refilled = (left: number, { amount, units }: Refill) =>
  Math.max(left, Math.min(amount, left + units));

const refill = fc.record({
  amount: fc.integer({ min: 1, max: 60 }),
  units: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constant(1_000)),
});
/** What happens, one after the other, to uses some of which are held from the start: a refill, or a taking. */
const events = fc.array(fc.record({ taken: fc.nat({ max: 30 }), refill }), { maxLength: 6 });

test("uses returned after refills leave the same number as if they had never been taken", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 1, max: 60 }),
      fc.array(fc.nat({ max: 20 }), { maxLength: 4 }),
      events,
      (rest, held, parts, all) => {
        const back = parts.filter(
          (_, index) => parts.slice(0, index + 1).reduce((sum, each) => sum + each, 0) <= held,
        );
        let left = rest;
        let asIf = rest + back.reduce((sum, each) => sum + each, 0);
        let raises: readonly Raise[] = [];
        for (const { taken, refill: each } of all) {
          const cost = Math.min(taken, left);
          left -= cost;
          asIf -= cost;
          const before = left;
          left = refilled(left, each);
          asIf = refilled(asIf, each);
          if (left === before) continue;
          const raise = { free: each.amount - left, units: left - before };
          raises = raisesWith({ ...NO_HOLDS, next: 1, raises }, raise, 0);
        }
        for (const units of back) {
          const step = usesAfterRaises(raises, 0, units);
          left += step.added;
          ({ raises } = step);
        }
        expect(left).toBe(asIf);
        for (const { free, units } of raises)
          expect(Math.min(free, units)).toBeGreaterThanOrEqual(0);
      },
    ),
    { numRuns: 1_000 },
  );
});

test("refills before a hold take nothing from the uses that it returns", () => {
  fc.assert(
    fc.property(fc.nat({ max: 9 }), fc.nat({ max: 9 }), fc.nat({ max: 9 }), (free, units, back) => {
      const raises = [{ before: 3, free, units }];
      expect(usesAfterRaises(raises, 3, back)).toEqual({ added: back, raises });
    }),
  );
});

test("raises are kept as long as an older hold is open, and then forgotten", () => {
  const raises = [1, 2, 3].map((before) => ({ before, free: 0, units: before }));
  for (const [oldest, kept] of [
    [0, 3],
    [1, 2],
    [2, 1],
    [3, 0],
  ] as const) {
    const after = raisesWith({ ...NO_HOLDS, next: 4, raises }, { free: 1, units: 5 }, oldest);
    expect(after).toEqual([...raises.slice(3 - kept), { before: 4, free: 1, units: 5 }]);
  }
});
