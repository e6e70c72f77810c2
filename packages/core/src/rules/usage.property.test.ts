import fc from "fast-check";
import { expect, test } from "vitest";
import { applyRefill, changeUsage, type Usage, type UsageChange } from "../store/counters.js";
import { decideSpend } from "./usage.js";

const remaining = fc.option(fc.oneof(fc.nat({ max: 20 }), fc.maxSafeNat()));
const usage: fc.Arbitrary<Usage> = fc.record({ remaining, refilledAt: fc.nat({ max: 100 }) });
const due = fc.option(
  fc.record({ amount: fc.integer({ min: 1, max: 30 }), dueAt: fc.integer({ min: -10, max: 100 }) }),
);
const by = fc.oneof(
  fc.integer({ min: 1, max: 30 }),
  fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
);
const operation: fc.Arbitrary<UsageChange["operation"]> = fc.oneof(
  fc.constant({ kind: "keep" as const }),
  fc.record({ kind: fc.constant("set" as const), remaining }),
  fc.record({ kind: fc.constant("increment" as const), by }),
  fc.record({ kind: fc.constant("decrement" as const), by }),
);
const change: fc.Arbitrary<UsageChange> = fc.record({
  due,
  operation,
  settledAt: fc.nat({ max: 100 }),
});

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

test("settling a refill never lowers the uses and never goes back in time", () => {
  fc.assert(
    fc.property(usage, due, (before, owed) => {
      const after = applyRefill(before, owed);
      expect(after.refilledAt).toBeGreaterThanOrEqual(before.refilledAt);
      expect(after.remaining === null).toBe(before.remaining === null);
      expect(after.remaining ?? 0).toBeGreaterThanOrEqual(before.remaining ?? 0);
    }),
    { numRuns: 500 },
  );
});

test("settling the same refill twice is the same as settling it once", () => {
  fc.assert(
    fc.property(usage, due, (before, owed) => {
      const once = applyRefill(before, owed);
      expect(applyRefill(once, owed)).toEqual(once);
    }),
    { numRuns: 500 },
  );
});

test("after any change the uses are null or a whole number from 0 to 2^53 - 1, and no refill up to it is owed", () => {
  fc.assert(
    fc.property(usage, change, (before, wanted) => {
      const result = changeUsage(before, wanted);
      if (result.kind !== "changed") return;
      const { usage: after } = result;
      if (after.remaining !== null) {
        expect(Number.isSafeInteger(after.remaining)).toBe(true);
        expect(after.remaining).toBeGreaterThanOrEqual(0);
      }
      expect(after.refilledAt).toBeGreaterThanOrEqual(
        Math.max(before.refilledAt, wanted.settledAt),
      );
      expect(applyRefill(after, { amount: Number.MAX_SAFE_INTEGER, dueAt: wanted.settledAt })).toBe(
        after,
      );
    }),
    { numRuns: 1_000 },
  );
});

test("a change is refused for exactly one of three reasons: no limit, too few uses, too many uses", () => {
  fc.assert(
    fc.property(usage, change, (before, wanted) => {
      const settled = applyRefill(before, wanted.due).remaining;
      const { kind } = changeUsage(before, wanted);
      const { operation: asked } = wanted;
      if (asked.kind === "keep" || asked.kind === "set") expect(kind).toBe("changed");
      else if (settled === null) expect(kind).toBe("unlimited");
      else if (asked.kind === "decrement")
        expect(kind).toBe(asked.by > settled ? "insufficient" : "changed");
      else {
        const isTooMany = BigInt(settled) + BigInt(asked.by) > BigInt(Number.MAX_SAFE_INTEGER);
        expect(kind).toBe(isTooMany ? "overflow" : "changed");
      }
    }),
    { numRuns: 1_000 },
  );
});
