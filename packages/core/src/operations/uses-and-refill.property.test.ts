import fc from "fast-check";
import { expect, test } from "vitest";
import { changeUsage } from "../store/counters.js";
import { settingOfUses } from "./uses-and-refill.js";

const remaining = fc.option(fc.nat(), { nil: null });
const refill = fc.option(
  fc.record({ interval: fc.constant("daily" as const), amount: fc.integer({ min: 1, max: 1e6 }) }),
  { nil: null },
);

test("after an update, the counter is what was wanted or, if nothing was, what was found", () => {
  fc.assert(
    fc.property(
      fc.record({
        remaining,
        refilledAt: fc.nat({ max: 1e12 }),
        lastRefillAt: fc.constant(null),
      }),
      refill,
      fc.option(remaining, { nil: undefined }),
      fc.nat({ max: 1e12 }),
      (usage, current, wanted, now) => {
        const setting = settingOfUses({ usage, refill: current }, { remaining: wanted }, now);
        const changed = setting.usage && changeUsage(usage, setting.usage);
        const after = changed?.kind === "changed" ? changed.usage.remaining : undefined;
        expect(after).toBe(wanted);
        const kept = settingOfUses({ usage, refill: current }, {}, now);
        expect(kept.remainingBefore).toBe(setting.remainingBefore);
      },
    ),
  );
});
