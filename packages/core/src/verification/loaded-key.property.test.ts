import fc from "fast-check";
import { expect, test } from "vitest";
import { toKeyView } from "../operations/keys/view.js";
import { dueRefill } from "../rules/refill.js";
import { applyRefill } from "../store/counters.js";
import { identityWith, loadedWith } from "../testing/records.js";
import { effectiveUses } from "./loaded-key.js";
import { dueRefillOf, planCharge } from "./plan.js";

const NOW = 40 * 86_400_000;
const usage = fc.record({
  remaining: fc.option(fc.nat({ max: 20 })),
  refilledAt: fc.nat({ max: NOW }),
  lastRefillAt: fc.constant(null),
});
const refill = fc.option(
  fc.record({ interval: fc.constant("daily" as const), amount: fc.integer({ min: 1, max: 20 }) }),
);
const loaded = fc
  .record({
    usesFrom: fc.constantFrom("key" as const, "identity" as const),
    own: usage,
    ownRefill: refill,
    shared: fc.option(fc.record({ usage, refill })),
  })
  .map(({ usesFrom, own, ownRefill, shared }) =>
    loadedWith(
      { usesFrom, refill: ownRefill, identityId: "id_1" },
      {
        usage: own,
        identity: shared === null ? null : identityWith({ refill: shared.refill }),
        identityUsage: shared?.usage ?? null,
      },
    ),
  );

test("a charge and a listing use the same number, after the same refill", () => {
  fc.assert(
    fc.property(loaded, (key) => {
      const { confirms, uses } = planCharge(key, 1, []);
      const { usage: effective, refill: by } = effectiveUses(key);
      expect(confirms[uses as number]?.kind).toBe(key.key.usesFrom);
      const due = dueRefillOf(key, NOW);
      expect(due).toEqual(dueRefill(by, NOW));
      const { remaining } = applyRefill(effective, due);
      expect(toKeyView(key, NOW).remaining ?? null).toBe(remaining);
    }),
  );
});

test("a key that takes its uses from a deleted identity is never enabled", () => {
  fc.assert(
    fc.property(loaded, (key) => {
      fc.pre(key.key.usesFrom === "identity" && key.identity === null);
      expect(toKeyView(key, NOW)).toMatchObject({ remaining: 0, enabled: false });
    }),
  );
});
