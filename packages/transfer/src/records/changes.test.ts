import { changeUsage, type Usage } from "@latchkey/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { setUsage } from "./changes.js";

/** Possible counters: the last refill is never later than the instant up to which refills are applied. */
const usage: fc.Arbitrary<Usage> = fc
  .tuple(
    fc.option(fc.integer({ min: 0, max: 5 })),
    fc.integer({ min: 1, max: 6 }),
    fc.option(fc.integer({ min: 1, max: 6 })),
  )
  .map(([remaining, refilledAt, last]) => {
    return {
      remaining,
      refilledAt,
      lastRefillAt: last === null ? null : Math.min(last, refilledAt),
    };
  });

test("a counter becomes any other, whatever it was", () => {
  fc.assert(
    fc.property(usage, usage, (present, wanted) => {
      const reached = setUsage(present, wanted).reduce((current, change) => {
        const result = changeUsage(current, change);
        return result.kind === "changed" ? result.usage : current;
      }, present);
      expect(reached).toEqual(wanted);
    }),
  );
});
