import { describe, expect, test } from "vitest";
import type { LimitCharge } from "../store/charge.js";
import { fixedWindows, identityWith, limitNamed, loadedWith } from "../testing/records.js";
import { LAST_INSTANT } from "../time.js";
import { exceededShadows, NO_KEY, publicIdentity, ratelimitState, verdictOf } from "./verdict.js";

const NOW = 1_000_000;
const charged = { kind: "charged", remaining: null, limits: [] } as const;

describe("the verdict", () => {
  const reading = (name: string, exceeded = false) => ({
    name,
    limit: 10,
    remaining: 4,
    resetAt: 60_000,
    exceeded,
    state: { at: 0, used: 6, earlier: [] },
  });
  const shown = { limit: 10, remaining: 4, reset: 60_000 };

  test("on a plain key has the fields that are always present, and no other", () => {
    expect(verdictOf(loadedWith(), "VALID", charged, NOW)).toStrictEqual({
      valid: true,
      code: "VALID",
      keyId: "key_1",
      apiId: "api_1",
      enabled: true,
      permissions: [],
      roles: [],
    });
  });

  test("on a key that has everything shows everything, in the names of the HTTP contract", () => {
    const loaded = loadedWith(
      {
        name: "laptop",
        meta: { plan: "pro" },
        expires: NOW + 1,
        environment: "live",
        identityId: "id_1",
      },
      {
        identity: identityWith({ meta: { org: "acme" }, ratelimits: [limitNamed("tokens")] }),
        roles: ["admin"],
        permissions: ["docs.read"],
      },
    );
    const charge = { kind: "charged", remaining: 9, limits: [reading("default")] } as const;
    expect(verdictOf(loaded, "VALID", charge, NOW)).toStrictEqual({
      valid: true,
      code: "VALID",
      keyId: "key_1",
      apiId: "api_1",
      name: "laptop",
      ownerId: "user_1",
      meta: { plan: "pro" },
      expires: NOW + 1,
      enabled: true,
      permissions: ["docs.read"],
      roles: ["admin"],
      environment: "live",
      identity: { id: "id_1", externalId: "user_1", meta: { org: "acme" } },
      remaining: 9,
      ratelimit: shown,
      ratelimits: [{ name: "default", ...shown, exceeded: false }],
    });
  });

  test.each([
    "DISABLED",
    "FORBIDDEN",
    "EXPIRED",
    "INSUFFICIENT_PERMISSIONS",
    "RATE_LIMITED",
    "USAGE_EXCEEDED",
  ] as const)("%s is not valid, and still says which key it is about", (code) => {
    const verdict = verdictOf(loadedWith(), code, charged, NOW);
    expect(verdict).toMatchObject({ valid: false, code, keyId: "key_1", apiId: "api_1" });
  });

  test("shows 0 uses left as a number, and no field for a key without a limit on uses", () => {
    const remaining = (left: number | null) =>
      verdictOf(
        loadedWith(),
        "USAGE_EXCEEDED",
        { kind: "usage-exceeded", remaining: left, limits: [] },
        NOW,
      );
    expect(remaining(0)).toHaveProperty("remaining", 0);
    expect(remaining(null)).not.toHaveProperty("remaining");
  });

  test("that took the last use shows the key as enabled: it was before the verification", () => {
    const lastUse = { kind: "charged", remaining: 0, limits: [] } as const;
    expect(verdictOf(loadedWith(), "VALID", lastUse, NOW)).toMatchObject({
      enabled: true,
      remaining: 0,
    });
  });

  test("shows the derived state on a refusal", () => {
    const enabledOf = (...args: Parameters<typeof verdictOf>) =>
      (verdictOf(...args) as { enabled: boolean }).enabled;
    expect(enabledOf(loadedWith({ enabled: false }), "DISABLED", charged, NOW)).toBe(false);
    expect(enabledOf(loadedWith({ expires: NOW }), "EXPIRED", charged, NOW)).toBe(false);
    expect(enabledOf(loadedWith({ expires: NOW }), "FORBIDDEN", charged, NOW)).toBe(false);
    const exceeded = (left: number) =>
      ({ kind: "usage-exceeded", remaining: left, limits: [] }) as const;
    expect(enabledOf(loadedWith(), "USAGE_EXCEEDED", exceeded(0), NOW)).toBe(false);
    expect(enabledOf(loadedWith(), "USAGE_EXCEEDED", exceeded(2), NOW)).toBe(true);
    expect(enabledOf(loadedWith(), "RATE_LIMITED", { ...charged, kind: "rate-limited" }, NOW)).toBe(
      true,
    );
  });

  test.each([
    {
      label: "the refusing limit",
      limits: [reading("default"), { ...reading("x", true), remaining: 1 }],
      leading: 1,
    },
    {
      label: "the first of two refusing",
      limits: [reading("a"), { ...reading("x", true), remaining: 1 }, reading("y", true)],
      leading: 1,
    },
    {
      label: "the default, when none refuses",
      limits: [reading("a"), { ...reading("default"), remaining: 1 }],
      leading: 1,
    },
    {
      label: "the first, when none refuses and none is the default",
      limits: [{ ...reading("a"), remaining: 1 }, reading("b")],
      leading: 1,
    },
  ])("leads with $label", ({ limits, leading }) => {
    const verdict = verdictOf(
      loadedWith(),
      "VALID",
      { kind: "charged", remaining: null, limits },
      NOW,
    );
    expect(verdict).toHaveProperty("ratelimit", { limit: 10, remaining: leading, reset: 60_000 });
  });

  test("lists every limit that was evaluated, in order, and says which refused", () => {
    const limits = [reading("a"), reading("b", true)];
    const verdict = verdictOf(
      loadedWith(),
      "RATE_LIMITED",
      { kind: "rate-limited", remaining: null, limits },
      NOW,
    );
    expect(verdict).toHaveProperty("ratelimits", [
      { name: "a", ...shown, exceeded: false },
      { name: "b", ...shown, exceeded: true },
    ]);
  });

  test("never shows the hash, the start or the sealed secret of a key", () => {
    const loaded = loadedWith({ hash: "HASH", start: "START", sealedSecret: "SEALED" });
    expect(JSON.stringify(verdictOf(loaded, "VALID", charged, NOW))).not.toMatch(
      /HASH|START|SEALED/,
    );
  });
});

test("on a secret that no key has contains nothing but the code", () => {
  expect(NO_KEY).toStrictEqual({
    NOT_FOUND: { valid: false, code: "NOT_FOUND" },
    FORBIDDEN: { valid: false, code: "FORBIDDEN" },
  });
});

test("the verdict shows the reservation, when the key starts, its tags, and when to try again", () => {
  const hold = { id: "rsv_1", expiresAt: NOW + 5 };
  expect(verdictOf(loadedWith(), "VALID", { ...charged, hold }, NOW)).toMatchObject({
    ...{ reservationId: "rsv_1", expiresAt: NOW + 5 },
  });
  const early = loadedWith({ startsAt: NOW + 9, tags: ["eu"] });
  const hints = { missing: "docs.read", retryAfterMs: 9 };
  const refused = verdictOf(early, "NOT_STARTED", charged, NOW, [], hints);
  expect(refused).toMatchObject({ ...hints, startsAt: NOW + 9, keyTags: ["eu"] });
  expect(verdictOf(loadedWith(), "VALID", charged, NOW, [], hints)).not.toHaveProperty("missing");
  expect(Object.keys(verdictOf(loadedWith(), "RATE_LIMITED", charged, NOW))).not.toContain(
    "retryAfterMs",
  );
});

describe("a limit in a verdict", () => {
  const readingOf = (fields: object = {}) => ({
    ...{ name: "tiles", limit: 10, remaining: 4, resetAt: 60_000, exceeded: false },
    ...{ state: { at: 0, used: 6, earlier: [] }, ...fields },
  });
  const limitOf = (fields: Partial<LimitCharge> = {}): LimitCharge => ({
    ...{ name: "tiles", ...fixedWindows(), cost: 1, window: "60000:tiles", owner: 0 },
    ...fields,
  });
  const plain = { limit: 10, remaining: 4, reset: 60_000 };

  test.each([
    [{}, {}],
    [{ algorithm: "sliding" }, { algorithm: "sliding" }],
    [{ algorithm: "sliding", burst: 20 }, { algorithm: "sliding" }],
    [{ algorithm: "concurrent" }, { algorithm: "concurrent" }],
    [{ algorithm: "token-bucket" }, { algorithm: "token-bucket" }],
    [
      { algorithm: "token-bucket", burst: 20 },
      { algorithm: "token-bucket", burst: 20 },
    ],
    [{ shadow: true }, { shadow: true }],
    [
      { shadow: true, algorithm: "sliding" },
      { shadow: true, algorithm: "sliding" },
    ],
  ] as const)("%j says of itself %j", (fields, said) => {
    expect(ratelimitState(readingOf(), limitOf(fields))).toStrictEqual({ ...plain, ...said });
  });

  test("shows when it is fully available again only if a date can", () => {
    for (const algorithm of ["fixed", "sliding"] as const) {
      const at = (resetAt: number) =>
        ratelimitState(readingOf({ resetAt }), limitOf({ algorithm }));
      expect(at(LAST_INSTANT)).toHaveProperty("reset", LAST_INSTANT);
      expect(at(LAST_INSTANT + 1)).not.toHaveProperty("reset");
    }
  });

  test("shows only its figures if it belongs to another limit, or to a removed one", () => {
    for (const taken of [undefined, limitOf({ name: "streams", shadow: true })])
      expect(ratelimitState(readingOf({ resetAt: LAST_INSTANT + 1 }), taken)).toStrictEqual({
        ...{ ...plain, reset: LAST_INSTANT + 1 },
      });
  });

  test("leads if it refuses, unless it is a shadow", () => {
    const readings = [readingOf({ exceeded: true }), readingOf({ name: "default", remaining: 1 })];
    const taken = [limitOf({ shadow: true }), limitOf({ name: "default" })];
    const charge = { kind: "charged", remaining: null, limits: readings } as const;
    expect(verdictOf(loadedWith(), "VALID", charge, NOW, taken)).toMatchObject({
      ratelimit: { remaining: 1 },
      ratelimits: [{ name: "tiles", shadow: true, exceeded: true }, { name: "default" }],
    });
  });

  test("is reported as an exceeded shadow only if it is the limit that was read", () => {
    const readings = ["a", "b", "c", "d"].map((name) =>
      readingOf({ name, exceeded: name !== "b" }),
    );
    const taken = ["a", "b", "x"].map((name) => limitOf({ name, shadow: true }));
    expect(exceededShadows(readings, taken)).toEqual(["a"]);
    const all = ["a", "b", "c", "d"].map((name) => limitOf({ name, shadow: name !== "d" }));
    expect(exceededShadows(readings, all)).toEqual(["a", "c"]);
    expect(exceededShadows([], all)).toEqual([]);
  });
});

test("next to its keys, an identity shows id, externalId and meta, not its limits and version", () => {
  const identity = identityWith({ meta: { org: "acme" }, ratelimits: [limitNamed("tokens")] });
  expect(publicIdentity(identity)).toStrictEqual({
    id: "id_1",
    externalId: "user_1",
    meta: { org: "acme" },
  });
});
