import { describe, expect, test } from "vitest";
import { identityWith, loadedWith, usageOf } from "../testing/records.js";
import { effectiveUses } from "./loaded-key.js";

const own = usageOf(5, 10);
const shared = usageOf(7, 20);
const ownRefill = { interval: "daily", amount: 5 } as const;
const sharedRefill = { interval: "monthly", amount: 7, refillDay: 1 } as const;
const identity = identityWith({ refill: sharedRefill });

describe("the uses that a key takes from", () => {
  test("are its own, with its own refill, whatever its identity has", () => {
    const loaded = loadedWith(
      { refill: ownRefill },
      { usage: own, identity, identityUsage: shared },
    );
    expect(effectiveUses(loaded)).toEqual({ usage: own, refill: ownRefill });
  });

  test("are those of its identity, with the identity's refill, if it says so", () => {
    const loaded = loadedWith(
      { usesFrom: "identity", refill: ownRefill },
      { usage: own, identity, identityUsage: shared },
    );
    expect(effectiveUses(loaded)).toEqual({ usage: shared, refill: sharedRefill });
  });

  test("are unlimited if those of its identity are, whatever its own", () => {
    const unlimited = usageOf(null);
    const loaded = loadedWith(
      { usesFrom: "identity" },
      { usage: own, identity: identityWith(), identityUsage: unlimited },
    );
    expect(effectiveUses(loaded)).toEqual({ usage: unlimited, refill: null });
  });

  test("are none, and not unlimited, if its identity is gone", () => {
    const loaded = loadedWith(
      { usesFrom: "identity", identityId: "id_gone", refill: ownRefill },
      { usage: usageOf(null) },
    );
    expect(effectiveUses(loaded)).toEqual({ usage: usageOf(0), refill: null });
  });
});
