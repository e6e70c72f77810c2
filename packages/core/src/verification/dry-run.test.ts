import { describe, expect, test } from "vitest";
import type { KeyRecord } from "../records/key.js";
import { applyCharge, type ChargeState } from "../store/charge.js";
import { identityWith, limitNamed, loadedWith, usageOf } from "../testing/records.js";
import { allChecks, NO_SUCH_KEY, usesBefore, type VerdictCheck } from "./dry-run.js";
import { decideLimits } from "./limit-precedence.js";
import { effectiveUses, type LoadedKey } from "./loaded-key.js";
import { dueRefillOf, planPeek } from "./plan.js";
import { PLAIN_QUESTION, type VerifyQuestion } from "./question.js";

/** 2026-03-10T12:00:00Z, in the middle of a window of a minute. */
const NOW = Date.UTC(2026, 2, 10, 12) + 30_000;
const MINUTE_AT = NOW - 30_000;
const MIDNIGHT = Date.UTC(2026, 2, 11);

interface Setup {
  readonly key?: Partial<KeyRecord>;
  readonly loaded?: Partial<LoadedKey>;
  readonly question?: Partial<VerifyQuestion>;
  /** Used units of each limit in the current window. */
  readonly used?: number;
}

function checksIn({ key = {}, loaded: fields = {}, question = {}, used = 0 }: Setup) {
  const loaded = loadedWith(key, fields);
  const wanted = { ...PLAIN_QUESTION, ...question };
  const { limits } = decideLimits(loaded, wanted.limits);
  const plan = planPeek(loaded, wanted.cost, limits);
  const state: ChargeState = {
    usage: effectiveUses(loaded).usage,
    windows: plan.limits.map(() => ({ at: MINUTE_AT, used, earlier: [] })),
    remembered: null,
  };
  const { result } = applyCharge(state, plan, { now: NOW, refill: dueRefillOf(loaded, NOW) });
  if (!("limits" in result)) throw new Error(result.kind);
  const peek = { limits, cost: wanted.cost, charge: result };
  return allChecks(loaded, wanted, peek, NOW);
}

function checkIn<Name extends VerdictCheck["check"]>(name: Name, setup: Setup) {
  const found = checksIn(setup).find(({ check }) => check === name);
  return found as Extract<VerdictCheck, { readonly check: Name }>;
}

test("a secret that no key has gets one check, which failed", () => {
  expect(NO_SUCH_KEY).toEqual([{ check: "exists", passed: false }]);
});

test("checks come in the order in which a verification makes them", () => {
  const key = { ratelimits: [limitNamed("default")] };
  expect(checksIn({ key }).map(({ check }) => check)).toEqual([
    "exists",
    "enabled",
    "api",
    "expiry",
    "address",
    "permissions",
    "ratelimit",
    "uses",
  ]);
});

test("a key without limits passes every check", () => {
  const checks = checksIn({});
  expect(checks.every(({ passed }) => passed)).toBe(true);
});

test("every check is made, also after one that failed", () => {
  const failed = checksIn({
    key: { enabled: false, expires: NOW, ratelimits: [limitNamed("default", 1)] },
    loaded: { usage: usageOf(0) },
    question: { apiId: "api_2", permissions: "docs.read" },
    used: 1,
  }).filter(({ passed }) => !passed);
  expect(failed.map(({ check }) => check)).toEqual([
    "enabled",
    "api",
    "expiry",
    "permissions",
    "ratelimit",
    "uses",
  ]);
});

test("no check that only a change of the key can fix says when to try again", () => {
  const checks = checksIn({
    key: { enabled: false, expires: NOW - 1 },
    question: { apiId: "api_2", permissions: "docs.read" },
  });
  for (const check of checks) expect(check).not.toHaveProperty("retryAfterMs");
});

test.each([
  { at: -1, passed: false },
  { at: 0, passed: false },
  { at: 1, passed: true },
])("an expiry $at ms from now: passed $passed", ({ at, passed }) => {
  const key = { expires: NOW + at };
  expect(checkIn("expiry", { key })).toEqual({ check: "expiry", passed, expires: NOW + at });
});

test("the API check shows the key's API and the one that was wanted", () => {
  expect(checkIn("api", {})).toEqual({ check: "api", passed: true, apiId: "api_1" });
  expect(checkIn("api", { question: { apiId: "api_2" } })).toEqual({
    check: "api",
    passed: false,
    apiId: "api_1",
    wanted: "api_2",
  });
});

test("the address check shows the address, and never the list", () => {
  const { api } = loadedWith();
  const loaded = { api: { ...api, ipWhitelist: ["192.0.2.0/24"] } };
  expect(checkIn("address", { loaded })).toEqual({ check: "address", passed: false });
  expect(checkIn("address", { loaded, question: { address: "198.51.100.1" } })).toEqual({
    check: "address",
    passed: false,
    ipAddress: "198.51.100.1",
  });
  expect(checkIn("address", { loaded, question: { address: "192.0.2.7" } }).passed).toBe(true);
});

test("the permission check names what is missing, and nothing that is held", () => {
  const loaded = { permissions: ["docs.*", "other"] };
  const permissions = { and: ["docs.read", "billing.read"] };
  expect(checkIn("permissions", { loaded, question: { permissions } })).toEqual({
    check: "permissions",
    passed: false,
    missing: "billing.read",
  });
});

describe("a rate limit", () => {
  const key = { ratelimits: [limitNamed("default", 10)] };
  const defaultAt = (cost: number) => ({
    limits: [{ name: "default", cost, adHoc: null, isOptional: false }],
  });

  test.each([
    { used: 6, cost: 3, passed: true },
    { used: 6, cost: 4, passed: true },
    { used: 6, cost: 5, passed: false },
  ])("with $used of 10 used and a cost of $cost: passed $passed", ({ used, cost, passed }) => {
    const check = checkIn("ratelimit", { key, used, question: defaultAt(cost) });
    expect(check).toMatchObject({ passed, remaining: 10 - used, limit: 10, cost });
  });

  test("that refuses passes when the next window opens", () => {
    const check = checkIn("ratelimit", { key, used: 10 });
    expect(check).toMatchObject({ reset: MINUTE_AT + 60_000, retryAfterMs: 30_000 });
  });

  test.each([
    { cost: 10, retry: { retryAfterMs: 30_000 } },
    { cost: 11, retry: {} },
  ])("never passes at a cost above the limit: $cost of 10", ({ cost, retry }) => {
    const check = checkIn("ratelimit", { key, used: 10, question: defaultAt(cost) });
    expect(check).toEqual({
      check: "ratelimit",
      passed: false,
      name: "default",
      limit: 10,
      remaining: 0,
      cost,
      reset: MINUTE_AT + 60_000,
      ...retry,
    });
  });

  test.each([
    [10, true],
    [9, false],
  ])(
    "as a shadow passes, and says whether it would have refused: %i used, %s",
    (used, exceeded) => {
      const shadow = { ratelimits: [{ ...limitNamed("default", 10), shadow: true }] };
      const check = checkIn("ratelimit", { key: shadow, used });
      expect(check).toMatchObject({ passed: true, shadow: true, exceeded });
      expect(check).not.toHaveProperty("retryAfterMs");
      expect(checkIn("ratelimit", { key, used: 10 })).not.toHaveProperty("exceeded");
    },
  );

  test("that would pass alone is shown as it is if another refuses", () => {
    const two = {
      ratelimits: [limitNamed("default", 10), { ...limitNamed("a", 5), autoApply: true }],
    };
    const checks = checksIn({ key: two, used: 5 }).filter(({ check }) => check === "ratelimit");
    expect(checks).toMatchObject([
      { name: "default", passed: true, remaining: 5 },
      { name: "a", passed: false, remaining: 0 },
    ]);
  });
});

describe("uses", () => {
  const withUses = (remaining: number | null, refilledAt = 0) => ({
    usage: usageOf(remaining, refilledAt),
  });

  test.each([
    { remaining: 3, cost: 2, passed: true },
    { remaining: 3, cost: 3, passed: true },
    { remaining: 3, cost: 4, passed: false },
    { remaining: 0, cost: 0, passed: false },
  ])("$remaining left at a cost of $cost: passed $passed", ({ remaining, cost, passed }) => {
    const check = checkIn("uses", { loaded: withUses(remaining), question: { cost } });
    expect(check).toEqual({ check: "uses", passed, from: "key", remaining, cost });
  });

  test("that are unlimited show no number and no refill", () => {
    const key = { refill: { interval: "daily", amount: 5 } as const };
    expect(checkIn("uses", { key })).toEqual({ check: "uses", passed: true, from: "key", cost: 1 });
  });

  test.each([
    { cost: 5, retry: { retryAfterMs: MIDNIGHT - NOW } },
    { cost: 6, retry: {} },
  ])(
    "that are used up pass with the next refill of 5, if it is enough for $cost",
    ({ cost, retry }) => {
      const key = { refill: { interval: "daily", amount: 5 } as const };
      const check = checkIn("uses", { key, loaded: withUses(0, NOW), question: { cost } });
      expect(check).toEqual({
        check: "uses",
        passed: false,
        from: "key",
        remaining: 0,
        cost,
        nextRefillAt: MIDNIGHT,
        ...retry,
      });
    },
  );

  test("whose refills are applied ahead of now wait for the refill after that", () => {
    const key = { refill: { interval: "daily", amount: 5 } as const };
    const check = checkIn("uses", { key, loaded: withUses(0, MIDNIGHT) });
    expect(check).toMatchObject({ retryAfterMs: MIDNIGHT + 86_400_000 - NOW });
  });

  test("of an identity are those that its keys share, with its refill", () => {
    const refill = { interval: "daily", amount: 5 } as const;
    const loaded = {
      identity: identityWith({ refill }),
      identityUsage: usageOf(2, NOW),
    };
    expect(checkIn("uses", { key: { usesFrom: "identity" }, loaded })).toEqual({
      check: "uses",
      passed: true,
      from: "identity",
      remaining: 2,
      cost: 1,
      nextRefillAt: MIDNIGHT,
    });
  });
});

describe("uses before the cost is taken", () => {
  const before = (kind: "charged" | "rate-limited" | "usage-exceeded", remaining: number | null) =>
    usesBefore({ cost: 3, charge: { kind, remaining, limits: [] } });

  test("are the uses left plus the cost if it could be taken, otherwise the uses left", () => {
    expect(before("charged", 4)).toBe(7);
    expect(before("charged", 0)).toBe(3);
    expect(before("usage-exceeded", 2)).toBe(2);
    expect(before("rate-limited", 2)).toBe(2);
    expect(before("charged", null)).toBeNull();
  });
});
