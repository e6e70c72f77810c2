import fc from "fast-check";
import { expect, test } from "vitest";
import { LatchkeyError } from "../../errors.js";
import { identityWith, loadedWith, usageOf } from "../../testing/records.js";
import { type KeyUpdatePlan, ownerAfter, planKeyUpdate } from "./plan-update.js";
import type { KeyUpdate } from "./settings.js";

const NOW = 1_000;
const owner = fc.constantFrom("key" as const, "identity" as const);
const instant = fc.option(fc.integer({ min: 1, max: 2_000 }));
const keyUpdate: fc.Arbitrary<KeyUpdate> = fc.record(
  {
    externalId: fc.constantFrom(null, "user_1", "user_2"),
    expires: instant,
    remaining: fc.option(fc.nat({ max: 3 })),
    refill: fc.option(fc.constant({ interval: "daily" as const, amount: 2 })),
    usesFrom: owner,
    enabled: fc.boolean(),
  },
  { requiredKeys: [] },
);
const loadedKey = fc
  .record({
    usesFrom: owner,
    remaining: fc.option(fc.nat({ max: 3 })),
    identity: fc.option(fc.record({ remaining: fc.option(fc.nat({ max: 3 })) })),
    expires: instant,
    isRotated: fc.boolean(),
  })
  .map(({ usesFrom, remaining, identity, expires, isRotated }) =>
    loadedWith(
      {
        usesFrom,
        expires: isRotated ? (expires ?? NOW) : expires,
        rotatedTo: isRotated ? "key_2" : null,
        identityId: identity === null ? null : "id_1",
      },
      {
        usage: usageOf(remaining, NOW),
        identity: identity === null ? null : identityWith(),
        identityUsage: identity === null ? null : usageOf(identity.remaining, NOW),
      },
    ),
  );

function planOrNull(...args: Parameters<typeof planKeyUpdate>): KeyUpdatePlan | null {
  try {
    return planKeyUpdate(...args);
  } catch (error) {
    if (error instanceof LatchkeyError) return null;
    throw error;
  }
}

const law = (
  holds: (loaded: ReturnType<typeof loadedWith>, update: KeyUpdate, plan: KeyUpdatePlan) => void,
) =>
  fc.assert(
    fc.property(loadedKey, keyUpdate, (loaded, update) => {
      const plan = planOrNull(loaded, update, NOW);
      if (plan !== null) holds(loaded, update, plan);
    }),
    { numRuns: 1_000 },
  );

test("no change lets a rotated key live longer than it would have", () => {
  law(({ key }, _, { key: after }) => {
    if (key.rotatedTo === null) return;
    expect(after.expires).not.toBeNull();
    expect(after.expires).toBeLessThanOrEqual(key.expires as number);
  });
});

test("no change gives uses or a refill to a key that takes from its identity afterwards", () => {
  law(({ key }, _, plan) => {
    if (plan.key.usesFrom === "key") return;
    expect(plan.usage).toBeUndefined();
    expect(plan.key.refill).toEqual(key.refill);
  });
});

test("no change unlinks the identity that a key takes from afterwards, or makes a key without an identity take from one", () => {
  law(({ identity }, update, { key }) => {
    if (key.usesFrom === "key") return;
    const owner = ownerAfter(update);
    expect(owner).not.toBeNull();
    const hasIdentity = owner !== undefined || identity !== null;
    expect(hasIdentity || update.usesFrom === undefined).toBe(true);
  });
});

test("a key with unlimited uses never has a refill", () => {
  law(({ usage }, { remaining }, { key }) => {
    const after = remaining === undefined ? usage.remaining : remaining;
    if (after === null) expect(key.refill).toBeNull();
  });
});

test("an update keeps what it does not name: hash, links, roles, and the place of the counters", () => {
  law(({ key }, _, plan) => {
    const { expires, refill, usesFrom, enabled, updatedAt, ...kept } = plan.key;
    expect(key).toMatchObject(kept);
  });
});
