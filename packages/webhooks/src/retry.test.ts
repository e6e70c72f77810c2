import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LONGEST_PAUSE_MS, nextTryAt } from "./retry.js";

const RULE = { firstRetryMs: 5_000, retryForMs: 3 * 86_400_000 };
const SINCE = 1_000_000;

function pauseAfter(tries: number, chance: number, retryAfterMs = 0): number | null {
  const at = nextTryAt({ tries, since: SINCE, retryAfterMs }, RULE, SINCE, chance);
  return at && at - SINCE;
}

describe("the next try", () => {
  test.each([
    [1, 5_000],
    [2, 10_000],
    [3, 20_000],
    [14, 40_960_000],
    [15, LONGEST_PAUSE_MS],
    [5_000, LONGEST_PAUSE_MS],
  ])("after %i tries comes at most %i ms later, and at least half of that", (tries, ms) => {
    expect([pauseAfter(tries, 1), pauseAfter(tries, 0)]).toEqual([ms, ms / 2]);
  });

  test("waits as long as the receiver asks for", () => {
    expect(pauseAfter(1, 1, 60_000)).toBe(60_000);
    expect(pauseAfter(9, 1, 60_000)).toBe(5_000 * 2 ** 8);
  });

  test("is at the end of the time at the latest; from that instant on there is none", () => {
    const end = SINCE + RULE.retryForMs;
    const next = (now: number) =>
      nextTryAt({ tries: 20, since: SINCE, retryAfterMs: 0 }, RULE, now, 1);
    expect([next(end - 1), next(end), next(end + 1)]).toEqual([end, null, null]);
  });

  test("is always later than now and within the time, until there is none, for any options", () => {
    const span = fc.integer({ min: 1, max: 30 * 86_400_000 });
    fc.assert(
      fc.property(span, span, fc.double({ min: 0, max: 1, noNaN: true }), (first, all, chance) => {
        const rule = { firstRetryMs: first, retryForMs: all };
        let [now, tries] = [SINCE, 1];
        for (; tries < 10_000; tries += 1) {
          const at = nextTryAt({ tries, since: SINCE, retryAfterMs: 0 }, rule, now, chance);
          if (at === null) break;
          expect(at).toBeGreaterThan(now);
          expect(at).toBeLessThanOrEqual(SINCE + all);
          now = at;
        }
        expect(now).toBe(SINCE + all);
      }),
      { numRuns: 100 },
    );
  });
});
