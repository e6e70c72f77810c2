import { describe, expect, test } from "vitest";
import type { LatchkeyError } from "../../errors.js";
import type { KeyRecord, LoadedKey } from "../../records/key.js";
import { contextWith } from "../../testing/context.js";
import { identityWith, limitNamed, loadedWith } from "../../testing/records.js";
import { describeKeyPatch, type WantedKey } from "./patch.js";

const DAY_MS = 86_400_000;
const NOW = 40 * DAY_MS + 1;

function patchOf(wanted: WantedKey, key: Partial<KeyRecord> = {}, loaded: Partial<LoadedKey> = {}) {
  return describeKeyPatch(contextWith(), loadedWith(key, loaded), wanted, NOW).patch;
}

function refusalOf(...args: Parameters<typeof patchOf>): string {
  try {
    patchOf(...args);
  } catch (error) {
    const { code, issues } = error as LatchkeyError;
    return [code, ...issues.map(({ path }) => path)].join(" ");
  }
  return "allowed";
}

const uses = (remaining: number | null, refilledAt = NOW) => ({ remaining, refilledAt });
const withIdentity = (remaining: number | null): Partial<LoadedKey> => ({
  identity: identityWith(),
  identityUsage: uses(remaining),
});
const drawing = { usesFrom: "identity", identityId: "id_1" } as const;
const daily = { interval: "daily", amount: 5 } as const;

describe("a change of a key", () => {
  test("sets what is given and leaves the rest", () => {
    expect(patchOf({ name: "new", meta: null }, { name: "old", meta: { a: 1 } })).toEqual({
      name: "new",
      meta: null,
      updatedAt: NOW,
    });
  });

  test("links the identity of externalId, which wins over ownerId, also where it is null", () => {
    expect(patchOf({ externalId: "u" }).identity).toMatchObject({ externalId: "u" });
    expect(patchOf({ externalId: "u", ownerId: "o" }).identity).toMatchObject({ externalId: "u" });
    expect(patchOf({ ownerId: "o" }).identity).toMatchObject({ externalId: "o" });
    expect(patchOf({ externalId: null, ownerId: "o" }).identity).toBeNull();
    expect(patchOf({ name: "n" }).identity).toBeUndefined();
  });
});

describe("limits", () => {
  const two = [limitNamed("default", 9), limitNamed("a", 3)];
  const names = (wanted: WantedKey) =>
    patchOf(wanted, { ratelimits: two }).ratelimits?.map(({ name, limit }) => `${name} ${limit}`);
  const limit = { limit: 1, duration: 1 };

  test.each<[WantedKey, string[] | undefined]>([
    [{ name: "n" }, undefined],
    [{ ratelimit: limit }, ["default 1", "a 3"]],
    [{ ratelimit: null }, ["a 3"]],
    [{ ratelimits: [{ ...limit, name: "b" }] }, ["b 1"]],
    [{ ratelimits: [] }, []],
    [{ ratelimits: null }, []],
    [{ ratelimits: [{ ...limit, name: "b" }], ratelimit: limit }, ["default 1", "b 1"]],
    [{ ratelimits: null, ratelimit: limit }, ["default 1"]],
    [{ ratelimits: [{ ...limit, name: "b" }], ratelimit: null }, ["b 1"]],
  ])("with %j are then %j", (wanted, expected) => {
    expect(names(wanted)).toEqual(expected);
  });
});

describe("a key's own uses", () => {
  test("are set as a change of the counter: what fell due is settled by the old refill first", () => {
    const patch = patchOf({ remaining: 7 }, { refill: daily }, { usage: uses(1, 0) });
    expect(patch.usage).toEqual({
      due: { amount: 5, dueAt: 40 * DAY_MS },
      operation: { kind: "set", remaining: 7 },
      settledAt: NOW,
    });
  });

  test("stay where only the refill changes, and are settled up to now", () => {
    const refill = { ...daily, amount: 6 };
    const patch = patchOf({ refill }, { refill: daily }, { usage: uses(1) });
    expect(patch.refill).toEqual(refill);
    expect(patch.usage).toMatchObject({ operation: { kind: "keep" }, settledAt: NOW });
  });

  test("are not touched where neither is given", () => {
    expect(patchOf({ name: "n" }, { refill: daily }, { usage: uses(1) }).usage).toBeUndefined();
  });

  test("that become unlimited lose their refill; a refill without a number is refused", () => {
    expect(patchOf({ remaining: null }, { refill: daily }, { usage: uses(1) }).refill).toBeNull();
    expect(refusalOf({ refill: daily })).toBe("BAD_REQUEST refill");
    expect(refusalOf({ refill: daily, remaining: null }, {}, { usage: uses(1) })).toBe(
      "BAD_REQUEST refill",
    );
    expect(refusalOf({ refill: daily, remaining: 0 })).toBe("allowed");
    expect(refusalOf({ refill: null })).toBe("allowed");
  });
});

describe("a key that draws from its identity", () => {
  test.each<WantedKey>([
    { remaining: 1 },
    { remaining: null },
    { refill: daily },
    { refill: null },
    { usesFrom: "identity", remaining: 1 },
    { name: "n", remaining: 0 },
  ])("has no uses of its own to set: %j", (wanted) => {
    expect(refusalOf(wanted, drawing, withIdentity(5))).toBe("PRECONDITION_FAILED");
  });

  test("and neither has one that is to draw from it from now on", () => {
    const wanted = { usesFrom: "identity", remaining: 1 } as const;
    expect(refusalOf(wanted, { identityId: "id_1" }, withIdentity(5))).toBe("PRECONDITION_FAILED");
  });

  test("may draw from itself again, with or without another count", () => {
    expect(patchOf({ usesFrom: "key" }, drawing, withIdentity(5))).toEqual({
      usesFrom: "key",
      updatedAt: NOW,
    });
    const patch = patchOf({ usesFrom: "key", remaining: 3 }, drawing, withIdentity(5));
    expect(patch.usage?.operation).toEqual({ kind: "set", remaining: 3 });
  });

  test.each<[WantedKey, Partial<KeyRecord>, Partial<LoadedKey>, string]>([
    [{ usesFrom: "identity" }, {}, {}, "BAD_REQUEST usesFrom"],
    [{ usesFrom: "identity", externalId: "u" }, {}, {}, "allowed"],
    [{ usesFrom: "identity", externalId: null }, drawing, withIdentity(5), "BAD_REQUEST usesFrom"],
    [{ externalId: null }, drawing, withIdentity(5), "BAD_REQUEST usesFrom"],
    [{ ownerId: null }, drawing, withIdentity(5), "BAD_REQUEST usesFrom"],
    [{ externalId: "u", ownerId: null }, drawing, withIdentity(5), "allowed"],
    [{ externalId: null, usesFrom: "key" }, drawing, withIdentity(5), "allowed"],
    [{ usesFrom: "identity" }, { identityId: "id_gone" }, {}, "BAD_REQUEST usesFrom"],
    // Its identity was deleted: it can still be named, and switched off.
    [{ name: "n", enabled: false }, drawing, {}, "allowed"],
  ])("needs one: %j", (wanted, key, loaded, expected) => {
    expect(refusalOf(wanted, key, loaded)).toBe(expected);
  });
});

describe("enabling", () => {
  const off = { enabled: false };
  const enabled = { enabled: true };

  test.each<[string, WantedKey, Partial<KeyRecord>, Partial<LoadedKey>, string]>([
    ["with uses", enabled, off, { usage: uses(1) }, "allowed"],
    ["without uses", enabled, off, { usage: uses(0) }, "PRECONDITION_FAILED"],
    ["with new uses", { ...enabled, remaining: 1 }, off, { usage: uses(0) }, "allowed"],
    [
      "with a refill that is due",
      enabled,
      { ...off, refill: daily },
      { usage: uses(0, 0) },
      "allowed",
    ],
    [
      "drawing from an identity with uses",
      enabled,
      { ...off, ...drawing },
      withIdentity(1),
      "allowed",
    ],
    [
      "drawing from an unlimited identity",
      enabled,
      { ...off, ...drawing },
      withIdentity(null),
      "allowed",
    ],
    [
      "drawing from an exhausted identity",
      enabled,
      { ...off, ...drawing },
      withIdentity(0),
      "PRECONDITION_FAILED",
    ],
    [
      "drawing from an identity that is gone",
      enabled,
      { ...off, ...drawing },
      {},
      "PRECONDITION_FAILED",
    ],
    [
      "drawing from an identity whose refill is due",
      enabled,
      { ...off, ...drawing },
      { identity: identityWith({ refill: daily }), identityUsage: uses(0, 0) },
      "allowed",
    ],
    [
      "moved to another identity",
      { ...enabled, externalId: "other" },
      { ...off, ...drawing },
      withIdentity(0),
      "allowed",
    ],
    [
      "moved to where it is",
      { ...enabled, externalId: "user_1" },
      { ...off, ...drawing },
      withIdentity(0),
      "PRECONDITION_FAILED",
    ],
    [
      "that is to draw from itself, with uses",
      { ...enabled, usesFrom: "key" },
      { ...off, ...drawing },
      { ...withIdentity(0), usage: uses(1) },
      "allowed",
    ],
    [
      "that is to draw from itself, without",
      { ...enabled, usesFrom: "key" },
      { ...off, ...drawing },
      { ...withIdentity(1), usage: uses(0) },
      "PRECONDITION_FAILED",
    ],
    [
      "that is to draw from an exhausted identity",
      { ...enabled, usesFrom: "identity" },
      off,
      { ...withIdentity(0), usage: uses(1) },
      "PRECONDITION_FAILED",
    ],
  ])("a key %s", (_, wanted, key, loaded, expected) => {
    expect(refusalOf(wanted, key, loaded)).toBe(expected);
  });

  test("a key whose expiry has elapsed clears it", () => {
    expect(patchOf(enabled, { expires: NOW }).expires).toBeNull();
    expect(patchOf(enabled, { expires: NOW + 1 }).expires).toBeUndefined();
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
    expect(refusalOf({ expires }, rotated)).toBe(expected);
    expect(refusalOf({ expires }, { ...rotated, rotatedTo: null })).toBe("allowed");
  });

  test("that has elapsed is not cleared by enabling it", () => {
    const dead = { ...rotated, expires: NOW };
    expect(refusalOf({ enabled: true }, dead)).toBe("PRECONDITION_FAILED");
    expect(refusalOf({ enabled: false, name: "old" }, dead)).toBe("allowed");
  });
});

describe("what is told of a change", () => {
  const fieldsOf = (
    wanted: WantedKey,
    key: Partial<KeyRecord> = {},
    loaded: Partial<LoadedKey> = {},
  ) => {
    const { changes } = describeKeyPatch(contextWith(), loadedWith(key, loaded), wanted, NOW);
    return changes.at(-1)?.change.fields;
  };

  test("is each field that becomes another, and no other", () => {
    expect(fieldsOf({ name: "new", enabled: true }, { name: "old" })).toEqual([
      { field: "name", before: "old", after: "new" },
    ]);
    expect(fieldsOf({ usesFrom: "identity", externalId: "u" })).toEqual([
      { field: "externalId", after: "u" },
      { field: "usesFrom", before: "key", after: "identity" },
    ]);
  });

  test("is of the uses what they were when it was decided, and what they are set to", () => {
    expect(fieldsOf({ remaining: 7 }, {}, { usage: uses(3) })).toEqual([
      { field: "remaining", before: 3, after: 7 },
    ]);
  });

  test("begins with the identity, which is told of only where it is made", () => {
    const { changes } = describeKeyPatch(contextWith(), loadedWith(), { externalId: "u" }, NOW);
    expect(changes.map(({ change, ifCreated }) => [change.type, ifCreated])).toEqual([
      ["identity.created", true],
      ["key.updated", false],
    ]);
    expect(changes[1]?.change.identityId).toBe(changes[0]?.change.resourceId);
  });
});
