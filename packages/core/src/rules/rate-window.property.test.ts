import fc from "fast-check";
import { expect, test } from "vitest";
import { attemptTaking, fixedWindows } from "../testing/records.js";
import type { LimitState } from "./limit-state.js";
import { currentWindow, windowStartAt } from "./rate-window.js";

const duration = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 10 ** 12 }));
const now = fc.oneof(fc.nat({ max: 1_000 }), fc.integer({ min: 0, max: 10 ** 15 }));

test("every instant lies in its window: the start is not after it, the end is", () => {
  fc.assert(
    fc.property(now, duration, (at, span) => {
      const startedAt = windowStartAt(at, span);
      expect(startedAt).toBeLessThanOrEqual(at);
      expect(startedAt + span).toBeGreaterThan(at);
    }),
  );
});

test("the start is floor(now / duration) windows after the epoch, computed exactly", () => {
  fc.assert(
    fc.property(now, duration, (at, span) => {
      expect(BigInt(windowStartAt(at, span))).toBe((BigInt(at) / BigInt(span)) * BigInt(span));
    }),
  );
});

test("the window that counts never goes back, whatever the clock does", () => {
  fc.assert(
    fc.property(duration, fc.array(now), (span, instants) => {
      let stored: LimitState | null = null;
      let latest = 0;
      for (const at of instants) {
        stored = currentWindow(stored, span, at);
        expect(stored.at).toBeGreaterThanOrEqual(latest);
        latest = stored.at;
      }
    }),
  );
});

test("what is admitted in one window never adds up to more than the limit", () => {
  const attempts = fc.array(
    fc.record({ cost: fc.nat({ max: 8 }), move: fc.integer({ min: -15, max: 15 }) }),
    { maxLength: 100 },
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 30 }),
      attempts,
      (limit, span, steps) => {
        let at = 1_000;
        let stored: LimitState | null = null;
        const admitted = new Map<number, number>();
        for (const { cost, move } of steps) {
          at += move;
          const after = attemptTaking(stored, fixedWindows(limit, span), cost, at);
          if (after === null) continue;
          stored = after;
          admitted.set(after.at, (admitted.get(after.at) ?? 0) + cost);
        }
        for (const total of admitted.values()) expect(total).toBeLessThanOrEqual(limit);
      },
    ),
    { numRuns: 300 },
  );
});

test("a cost is refused only when it does not fit: used + cost > limit", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.maxSafeNat(), fc.integer({ min: 1 }), (used, cost, limit) => {
      const stored = { at: 0, used, earlier: [] };
      const isAdmitted = attemptTaking(stored, fixedWindows(limit, 1_000), cost, 0) !== null;
      expect(isAdmitted).toBe(BigInt(used) + BigInt(cost) <= BigInt(limit));
    }),
  );
});
