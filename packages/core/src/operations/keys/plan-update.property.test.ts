import fc from "fast-check";
import { expect, test } from "vitest";
import { LatchkeyError } from "../../errors.js";
import { contextWith } from "../../testing/context.js";
import { identityWith, loadedWith } from "../../testing/records.js";
import { type DescribedPatch, describeKeyPatch, type WantedKey } from "./patch.js";

const NOW = 1_000;
const owner = fc.constantFrom("key" as const, "identity" as const);
const instant = fc.option(fc.integer({ min: 1, max: 2_000 }));
const wantedKey: fc.Arbitrary<WantedKey> = fc.record(
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
        usage: { remaining, refilledAt: NOW },
        identity: identity === null ? null : identityWith(),
        identityUsage: identity === null ? null : { ...identity, refilledAt: NOW },
      },
    ),
  );

function describeOrNull(...args: Parameters<typeof describeKeyPatch>): DescribedPatch | null {
  try {
    return describeKeyPatch(...args);
  } catch (error) {
    if (error instanceof LatchkeyError) return null;
    throw error;
  }
}

const law = (
  holds: (
    loaded: ReturnType<typeof loadedWith>,
    wanted: WantedKey,
    patch: DescribedPatch["patch"],
  ) => void,
) =>
  fc.assert(
    fc.property(loadedKey, wantedKey, (loaded, wanted) => {
      const described = describeOrNull(contextWith(), loaded, wanted, NOW);
      if (described !== null) holds(loaded, wanted, described.patch);
    }),
    { numRuns: 1_000 },
  );

test("no change lets a rotated key live longer than it would have", () => {
  law(({ key }, _, { expires }) => {
    if (key.rotatedTo === null || expires === undefined) return;
    expect(expires).not.toBeNull();
    expect(expires).toBeLessThanOrEqual(key.expires as number);
  });
});

test("no change gives a number or a refill to a key that draws from its identity afterwards", () => {
  law(({ key }, _, patch) => {
    if ((patch.usesFrom ?? key.usesFrom) === "key") return;
    expect(patch.usage).toBeUndefined();
    expect(patch.refill).toBeUndefined();
  });
});

test("no change takes away the identity that a key draws from afterwards, or makes one draw from none", () => {
  law(({ key, identity }, { usesFrom }, patch) => {
    if ((patch.usesFrom ?? key.usesFrom) === "key") return;
    expect(patch.identity).not.toBeNull();
    const hasIdentity = patch.identity !== undefined || identity !== null;
    expect(hasIdentity || usesFrom === undefined).toBe(true);
  });
});

test("a refill never stands beside an unlimited number", () => {
  law(({ key, usage }, { remaining }, patch) => {
    const after = remaining === undefined ? usage.remaining : remaining;
    const refill = patch.refill === undefined ? key.refill : patch.refill;
    if (after === null) expect(refill).toBeNull();
  });
});
