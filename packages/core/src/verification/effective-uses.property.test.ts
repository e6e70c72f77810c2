import fc from "fast-check";
import { expect, test } from "vitest";
import { toListedKey } from "../operations/keys/view.js";
import { dueRefill } from "../rules/refill.js";
import { applyRefill } from "../store/counters.js";
import { identityWith, loadedWith } from "../testing/records.js";
import { effectiveUses } from "./effective-uses.js";
import { planCharge } from "./verify.js";

const NOW = 40 * 86_400_000;
const usage = fc.record({
  remaining: fc.option(fc.nat({ max: 20 })),
  refilledAt: fc.nat({ max: NOW }),
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

test("what is charged is what is listed: the same number, settled by the same refill", () => {
  fc.assert(
    fc.property(loaded, (key) => {
      const question = { apiId: null, address: null, permissions: null, cost: 1, limits: [] };
      const plan = planCharge(key, question, { kind: "charge", limits: [] }, NOW);
      const { usage: drawn, refill: by } = effectiveUses(key);
      expect(plan.usesFrom).toBe(key.key.usesFrom);
      expect(plan.refill).toEqual(dueRefill(by, NOW));
      const { remaining } = applyRefill(drawn, plan.refill);
      expect(toListedKey(key, NOW).remaining ?? null).toBe(remaining);
    }),
  );
});

test("a key that draws from an identity that is gone is never enabled", () => {
  fc.assert(
    fc.property(loaded, (key) => {
      fc.pre(key.key.usesFrom === "identity" && key.identity === null);
      expect(toListedKey(key, NOW)).toMatchObject({ remaining: 0, enabled: false });
    }),
  );
});
