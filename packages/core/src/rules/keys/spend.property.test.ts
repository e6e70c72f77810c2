import fc from "fast-check";
import { expect, test } from "vitest";
import { decideSpend } from "./spend.js";

test("uses spent and uses left always add up to uses granted", () => {
  fc.assert(
    fc.property(fc.nat({ max: 1_000 }), fc.array(fc.nat({ max: 100 })), (granted, costs) => {
      let left = granted;
      let spent = 0;
      for (const cost of costs) {
        const decision = decideSpend(left, cost);
        if (decision.kind === "spend") spent += cost;
        left = decision.remaining as number;
      }
      expect(spent + left).toBe(granted);
    }),
    { numRuns: 300 },
  );
});

test("the uses left are never negative, whatever is spent", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (left, cost) => {
      const decision = decideSpend(left, cost);
      expect(decision.remaining).toBeGreaterThanOrEqual(0);
      expect(decision.kind).toBe(left > 0 && cost <= left ? "spend" : "refuse");
    }),
    { numRuns: 300 },
  );
});
