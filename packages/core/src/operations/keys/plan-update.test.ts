import { describe, expect, test } from "vitest";
import type { LatchkeyError } from "../../errors.js";
import type { KeyRecord } from "../../records/key.js";
import { identityWith, keyWith, limitNamed, loadedWith, usageOf } from "../../testing/records.js";
import { DAY_MS } from "../../time.js";
import type { LoadedKey } from "../../verification/loaded-key.js";
import { ownerAfter, planKeyUpdate } from "./plan-update.js";
import type { KeyUpdate } from "./settings.js";

const NOW = 40 * DAY_MS + 1;

function planOf(update: KeyUpdate, key: Partial<KeyRecord> = {}, loaded: Partial<LoadedKey> = {}) {
  return planKeyUpdate(loadedWith(key, loaded), update, NOW);
}

function errorOfPlan(...args: Parameters<typeof planOf>): string {
  try {
    planOf(...args);
  } catch (error) {
    const { code, issues } = error as LatchkeyError;
    return [code, ...issues.map(({ path }) => path)].join(" ");
  }
  return "allowed";
}

const uses = (remaining: number | null, refilledAt = NOW) => usageOf(remaining, refilledAt);
const withIdentity = (remaining: number | null): Partial<LoadedKey> => ({
  identity: identityWith(),
  identityUsage: uses(remaining),
});
const sharing = { usesFrom: "identity", identityId: "id_1" } as const;
const daily = { interval: "daily", amount: 5 } as const;

describe("an update of a key", () => {
  test("sets the given fields and keeps the rest", () => {
    const before = { name: "old", meta: { a: 1 }, environment: "live", version: 4 };
    expect(planOf({ name: "new", meta: null }, before)).toEqual({
      key: keyWith({ ...before, name: "new", meta: null, updatedAt: NOW }),
      keepsVersion: false,
      usage: undefined,
      setsLimits: false,
      remainingBefore: null,
      isMoreThanSet: false,
    });
  });
});

describe("limits", () => {
  const two = [limitNamed("default", 9), limitNamed("a", 3)];
  const names = (wanted: KeyUpdate) =>
    planOf(wanted, { ratelimits: two }).key.ratelimits.map(({ name, limit }) => `${name} ${limit}`);
  const limit = { limit: 1, duration: 1 };

  test.each<[KeyUpdate, string[]]>([
    [{ name: "n" }, ["default 9", "a 3"]],
    [{ ratelimit: limit }, ["default 1", "a 3"]],
    [{ ratelimit: null }, ["a 3"]],
    [{ ratelimits: [{ ...limit, name: "b" }] }, ["b 1"]],
    [{ ratelimits: [] }, []],
    [{ ratelimits: null }, []],
    [{ ratelimits: [{ ...limit, name: "b" }], ratelimit: limit }, ["default 1", "b 1"]],
    [{ ratelimits: null, ratelimit: limit }, ["default 1"]],
    [{ ratelimits: [{ ...limit, name: "b" }], ratelimit: null }, ["b 1"]],
  ])("after %j are %j", (wanted, expected) => {
    expect(names(wanted)).toEqual(expected);
  });
});

describe("a key's own uses", () => {
  test("are set as a change of the counter, after refills that are due by the old rule", () => {
    const plan = planOf({ remaining: 7 }, { refill: daily }, { usage: uses(1, 0) });
    expect(plan.usage).toEqual({
      due: { amount: 5, dueAt: 40 * DAY_MS },
      operation: { kind: "set", remaining: 7 },
      restartsAt: NOW,
    });
  });

  test("stay if only the refill changes, and refills restart", () => {
    const refill = { ...daily, amount: 6 };
    const plan = planOf({ refill }, { refill: daily }, { usage: uses(1) });
    expect(plan.key.refill).toEqual(refill);
    expect(plan.usage).toMatchObject({ operation: { kind: "keep" }, restartsAt: NOW });
  });

  test("are not touched if neither is given", () => {
    expect(planOf({ name: "n" }, { refill: daily }, { usage: uses(1) }).usage).toBeUndefined();
  });

  test("that become unlimited lose their refill; a refill of unlimited uses is refused", () => {
    expect(
      planOf({ remaining: null }, { refill: daily }, { usage: uses(1) }).key.refill,
    ).toBeNull();
    expect(errorOfPlan({ refill: daily })).toBe("BAD_REQUEST refill");
    expect(errorOfPlan({ refill: daily, remaining: null }, {}, { usage: uses(1) })).toBe(
      "BAD_REQUEST refill",
    );
    expect(errorOfPlan({ refill: daily, remaining: 0 })).toBe("allowed");
    expect(errorOfPlan({ refill: null })).toBe("allowed");
  });
});

describe("a key that takes from its identity", () => {
  test.each<KeyUpdate>([
    { remaining: 1 },
    { remaining: null },
    { refill: daily },
    { refill: null },
    { usesFrom: "identity", remaining: 1 },
    { name: "n", remaining: 0 },
  ])("has no uses of its own to set: %j", (wanted) => {
    expect(errorOfPlan(wanted, sharing, withIdentity(5))).toBe("PRECONDITION_FAILED");
  });

  test("has none to set in the update that makes it take from its identity", () => {
    const wanted = { usesFrom: "identity", remaining: 1 } as const;
    expect(errorOfPlan(wanted, { identityId: "id_1" }, withIdentity(5))).toBe(
      "PRECONDITION_FAILED",
    );
  });

  test("may use its own uses again, with or without a new count", () => {
    expect(planOf({ usesFrom: "key" }, sharing, withIdentity(5))).toMatchObject({
      key: { usesFrom: "key", identityId: "id_1" },
      usage: undefined,
    });
    const plan = planOf({ usesFrom: "key", remaining: 3 }, sharing, withIdentity(5));
    expect(plan.usage?.operation).toEqual({ kind: "set", remaining: 3 });
  });

  test.each<[KeyUpdate, Partial<KeyRecord>, Partial<LoadedKey>, string]>([
    [{ usesFrom: "identity" }, {}, {}, "BAD_REQUEST usesFrom"],
    [{ usesFrom: "identity", externalId: "u" }, {}, {}, "allowed"],
    [{ usesFrom: "identity", externalId: null }, sharing, withIdentity(5), "BAD_REQUEST usesFrom"],
    [{ externalId: null }, sharing, withIdentity(5), "BAD_REQUEST usesFrom"],
    [{ ownerId: null }, sharing, withIdentity(5), "BAD_REQUEST usesFrom"],
    [{ externalId: "u", ownerId: null }, sharing, withIdentity(5), "allowed"],
    [{ externalId: null, usesFrom: "key" }, sharing, withIdentity(5), "allowed"],
    [{ usesFrom: "identity" }, { identityId: "id_gone" }, {}, "BAD_REQUEST usesFrom"],
    // Its identity was deleted: the key can still be renamed and switched off.
    [{ name: "n", enabled: false }, sharing, {}, "allowed"],
  ])("needs an identity: %j", (wanted, key, loaded, expected) => {
    expect(errorOfPlan(wanted, key, loaded)).toBe(expected);
  });
});

describe("enabling", () => {
  const off = { enabled: false };
  const enabled = { enabled: true };

  test.each<[string, KeyUpdate, Partial<KeyRecord>, Partial<LoadedKey>, string]>([
    ["with uses", enabled, off, { usage: uses(1) }, "allowed"],
    ["without uses", enabled, off, { usage: uses(0) }, "PRECONDITION_FAILED"],
    ["with new uses", { ...enabled, remaining: 1 }, off, { usage: uses(0) }, "allowed"],
    ["with a due refill", enabled, { ...off, refill: daily }, { usage: uses(0, 0) }, "allowed"],
    [
      "taking from an identity with uses",
      enabled,
      { ...off, ...sharing },
      withIdentity(1),
      "allowed",
    ],
    [
      "taking from an unlimited identity",
      enabled,
      { ...off, ...sharing },
      withIdentity(null),
      "allowed",
    ],
    [
      "taking from an exhausted identity",
      enabled,
      { ...off, ...sharing },
      withIdentity(0),
      "PRECONDITION_FAILED",
    ],
    ["taking from a deleted identity", enabled, { ...off, ...sharing }, {}, "PRECONDITION_FAILED"],
    [
      "taking from an identity with a due refill",
      enabled,
      { ...off, ...sharing },
      { identity: identityWith({ refill: daily }), identityUsage: uses(0, 0) },
      "allowed",
    ],
    [
      "moved to another identity",
      { ...enabled, externalId: "other" },
      { ...off, ...sharing },
      withIdentity(0),
      "allowed",
    ],
    [
      "moved to the identity that it already has",
      { ...enabled, externalId: "user_1" },
      { ...off, ...sharing },
      withIdentity(0),
      "PRECONDITION_FAILED",
    ],
    [
      "switched to its own uses, with some left",
      { ...enabled, usesFrom: "key" },
      { ...off, ...sharing },
      { ...withIdentity(0), usage: uses(1) },
      "allowed",
    ],
    [
      "switched to its own uses, with none left",
      { ...enabled, usesFrom: "key" },
      { ...off, ...sharing },
      { ...withIdentity(1), usage: uses(0) },
      "PRECONDITION_FAILED",
    ],
    [
      "switched to an exhausted identity",
      { ...enabled, usesFrom: "identity" },
      off,
      { ...withIdentity(0), usage: uses(1) },
      "PRECONDITION_FAILED",
    ],
  ])("a key %s", (_, wanted, key, loaded, expected) => {
    expect(errorOfPlan(wanted, key, loaded)).toBe(expected);
  });

  test("clears an expiry that has elapsed, and keeps a later one", () => {
    expect(planOf(enabled, { expires: NOW }).key.expires).toBeNull();
    expect(planOf(enabled, { expires: NOW + 1 }).key.expires).toBe(NOW + 1);
  });
});

describe("the expiry of a rotated key", () => {
  const rotated = { rotatedTo: "key_2", expires: NOW + 100 };

  test.each<[number | null, string]>([
    [NOW + 99, "allowed"],
    [NOW + 100, "allowed"],
    [NOW + 101, "PRECONDITION_FAILED"],
    [null, "PRECONDITION_FAILED"],
  ])("set to %j: %s", (expires, expected) => {
    expect(errorOfPlan({ expires }, rotated)).toBe(expected);
    expect(errorOfPlan({ expires }, { ...rotated, rotatedTo: null })).toBe("allowed");
  });

  test("that has elapsed is not cleared: enabling the key is refused", () => {
    const dead = { ...rotated, expires: NOW };
    expect(errorOfPlan({ enabled: true }, dead)).toBe("PRECONDITION_FAILED");
    expect(errorOfPlan({ enabled: false, name: "old" }, dead)).toBe("allowed");
  });
});

describe("the version of a key", () => {
  const counted = { usage: uses(3) };

  test("changes with every change of its configuration", () => {
    expect(planOf({ name: "new" }).keepsVersion).toBe(false);
    expect(planOf({ refill: daily }, {}, counted).keepsVersion).toBe(false);
    expect(planOf({ remaining: 5, enabled: false }, {}, counted).keepsVersion).toBe(false);
  });

  test("stays if only its uses are set: a process that has cached the key need not read it again", () => {
    expect(planOf({ remaining: 5 }, {}, counted).keepsVersion).toBe(true);
  });

  test("changes if setting the uses removes the refill", () => {
    expect(planOf({ remaining: null }, { refill: daily }, counted).keepsVersion).toBe(false);
  });
});

describe("a plan also says", () => {
  test("whether the limits are set, so that windows of removed limits are deleted", () => {
    const limit = { limit: 1, duration: 1 };
    expect(planOf({ ratelimit: limit }).setsLimits).toBe(true);
    expect(planOf({ ratelimits: [] }).setsLimits).toBe(true);
    expect(planOf({ name: "n" }).setsLimits).toBe(false);
  });

  test("how many uses were left, including a due refill", () => {
    expect(planOf({ remaining: 7 }, {}, { usage: uses(3) }).remainingBefore).toBe(3);
    const refilled = planOf({ remaining: 7 }, { refill: daily }, { usage: uses(1, 0) });
    expect(refilled.remainingBefore).toBe(5);
  });
});

describe("the owner of a key after an update", () => {
  test.each([
    [{ externalId: "u" }, "u"],
    [{ externalId: "u", ownerId: "o" }, "u"],
    [{ ownerId: "o" }, "o"],
    [{ externalId: null, ownerId: "o" }, null],
    [{ ownerId: null }, null],
    [{ name: "n" }, undefined],
  ])("after %j: %j", (update, owner) => {
    expect(ownerAfter(update)).toBe(owner);
  });
});
