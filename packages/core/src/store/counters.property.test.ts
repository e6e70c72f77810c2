import fc from "fast-check";
import { expect, test } from "vitest";
import { applyRefill, changeUsage, type Usage, type UsageChange } from "./counters.js";

const remaining = fc.option(fc.oneof(fc.nat({ max: 20 }), fc.maxSafeNat()));
const usage: fc.Arbitrary<Usage> = fc.record({
  remaining,
  refilledAt: fc.nat({ max: 100 }),
  lastRefillAt: fc.option(fc.nat({ max: 100 })),
});
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
  restartsAt: fc.option(fc.nat({ max: 100 })),
});

test("applying a refill never lowers the uses and never goes back in time", () => {
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

test("applying the same refill twice is the same as applying it once", () => {
  fc.assert(
    fc.property(usage, due, (before, owed) => {
      const once = applyRefill(before, owed);
      expect(applyRefill(once, owed)).toEqual(once);
    }),
    { numRuns: 500 },
  );
});

test("after any change the uses are null or a whole number from 0 to 2^53 - 1", () => {
  fc.assert(
    fc.property(usage, change, (before, wanted) => {
      const result = changeUsage(before, wanted);
      if (result.kind !== "changed") return;
      const { usage: after } = result;
      if (after.remaining !== null) {
        expect(Number.isSafeInteger(after.remaining)).toBe(true);
        expect(after.remaining).toBeGreaterThanOrEqual(0);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("a change is refused for exactly one of three reasons: no limit, too few uses, too many uses", () => {
  fc.assert(
    fc.property(usage, change, (before, wanted) => {
      const refilled = applyRefill(before, wanted.due).remaining;
      const { kind } = changeUsage(before, wanted);
      const { operation } = wanted;
      if (operation.kind === "keep" || operation.kind === "set") expect(kind).toBe("changed");
      else if (refilled === null) expect(kind).toBe("unlimited");
      else if (operation.kind === "decrement")
        expect(kind).toBe(operation.by > refilled ? "insufficient" : "changed");
      else {
        const isTooMany = BigInt(refilled) + BigInt(operation.by) > BigInt(Number.MAX_SAFE_INTEGER);
        expect(kind).toBe(isTooMany ? "overflow" : "changed");
      }
    }),
    { numRuns: 1_000 },
  );
});

test("refills begin at a restart: one due until then is not owed, one due later is", () => {
  fc.assert(
    fc.property(usage, change, fc.nat({ max: 100 }), (before, wanted, restartsAt) => {
      const result = changeUsage(before, { ...wanted, restartsAt });
      if (result.kind !== "changed" || result.usage.remaining === null) return;
      expect(result.usage.refilledAt).toBe(restartsAt);
      const amount = Number.MAX_SAFE_INTEGER;
      expect(applyRefill(result.usage, { amount, dueAt: restartsAt })).toBe(result.usage);
      expect(applyRefill(result.usage, { amount, dueAt: restartsAt + 1 }).remaining).toBe(amount);
    }),
    { numRuns: 500 },
  );
});

test("without a restart refills go on: the instant up to which they are applied never goes back", () => {
  fc.assert(
    fc.property(usage, change, (before, wanted) => {
      const result = changeUsage(before, { ...wanted, restartsAt: null });
      if (result.kind !== "changed") return;
      const refilled = applyRefill(before, wanted.due);
      expect(result.usage.refilledAt).toBe(refilled.refilledAt);
      expect(result.usage.refilledAt).toBeGreaterThanOrEqual(before.refilledAt);
      expect(result.usage.lastRefillAt).toBe(refilled.lastRefillAt);
    }),
    { numRuns: 500 },
  );
});

test("the last refill is one that happened: the previous one, or the one that was owed, and never one after the restart", () => {
  fc.assert(
    fc.property(usage, change, (before, wanted) => {
      const result = changeUsage(before, wanted);
      if (result.kind !== "changed") return;
      const { lastRefillAt } = result.usage;
      if (lastRefillAt === null) return;
      expect([before.lastRefillAt, wanted.due?.dueAt]).toContain(lastRefillAt);
      expect(lastRefillAt).toBeLessThanOrEqual(wanted.restartsAt ?? lastRefillAt);
    }),
    { numRuns: 500 },
  );
});

test("a refill that happens is always the last one, and one that does not leaves it alone", () => {
  fc.assert(
    fc.property(usage, due, (before, owed) => {
      const after = applyRefill(before, owed);
      if (after === before) return;
      expect(after.lastRefillAt).toBe(owed?.dueAt);
      expect(after.refilledAt).toBe(owed?.dueAt);
    }),
    { numRuns: 500 },
  );
});
