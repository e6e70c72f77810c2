import { expect, test } from "vitest";
import type { RateLimit } from "../rate-limit.js";
import { aboveCeiling, type GivenToKey, givenByLimits, type KeyCeilings } from "./ceilings.js";

const NOW = Date.UTC(2026, 2, 2);
const MINUTE_MS = 60_000;

function limited(limit: number, duration: number, more: Partial<RateLimit> = {}): RateLimit {
  return {
    name: "default",
    algorithm: "fixed",
    limit,
    duration,
    burst: limit,
    shadow: false,
    ...more,
  };
}

const bucket = (limit: number, burst: number) =>
  limited(limit, MINUTE_MS, { algorithm: "token-bucket", burst });

const maxExpiresIn = { maxExpiresIn: 5 };
const maxRemaining = { maxRemaining: 10 };
const permissions = { permissions: ["files.*", "read"] };
const maxRatelimit = { maxRatelimit: { limit: 100, duration: MINUTE_MS } };

test.each<[string, KeyCeilings, GivenToKey]>([
  ["what is not given", { ...maxExpiresIn, ...maxRemaining, ...permissions, ...maxRatelimit }, {}],
  ["an expiry", maxExpiresIn, { expires: NOW + 5 }],
  ["uses", maxRemaining, { remaining: 10 }],
  ["uses of its own", maxRemaining, { usesFrom: "key" }],
  ["a refill with what it carries over", maxRemaining, { refill: { amount: 7, carryOver: 3 } }],
  ["no refill", maxRemaining, { refill: null }],
  ["a permission that a wildcard covers", permissions, { permissions: ["files.write", "read"] }],
  ["a limit", maxRatelimit, { ratelimit: limited(100, MINUTE_MS) }],
  ["one of a longer window", maxRatelimit, { ratelimit: limited(100, 2 * MINUTE_MS) }],
  ["one of shorter windows", maxRatelimit, { ratelimit: limited(50, MINUTE_MS / 2) }],
  [
    "a sliding limit",
    maxRatelimit,
    { ratelimit: limited(100, MINUTE_MS, { algorithm: "sliding" }) },
  ],
  ["a bucket", maxRatelimit, { ratelimit: bucket(100, 100) }],
])("%s at its ceiling is not above it", (_, ceilings, given) => {
  expect(aboveCeiling(ceilings, given, NOW)).toBeNull();
});

test.each<[string, KeyCeilings, GivenToKey, string, number | readonly string[]]>([
  ["a later expiry", maxExpiresIn, { expires: NOW + 6 }, "expires", 5],
  ["none", maxExpiresIn, { expires: null }, "expires", 5],
  ["more uses", maxRemaining, { remaining: 11 }, "remaining", 10],
  ["uses without a number", maxRemaining, { remaining: null }, "remaining", 10],
  ["uses of its identity", maxRemaining, { usesFrom: "identity" }, "usesFrom", 10],
  ["a larger refill", maxRemaining, { refill: { amount: 11 } }, "refill", 10],
  [
    "a refill that carries over more",
    maxRemaining,
    { refill: { amount: 7, carryOver: 4 } },
    "refill",
    10,
  ],
  [
    "a wildcard that covers more",
    permissions,
    { permissions: ["read", "*"] },
    "permissions",
    ["files.*", "read"],
  ],
  ["no limit", maxRatelimit, { ratelimit: null }, "ratelimit", 100],
  ["a larger limit", maxRatelimit, { ratelimit: limited(101, MINUTE_MS) }, "ratelimit", 100],
  [
    "two windows in part",
    maxRatelimit,
    { ratelimit: limited(51, MINUTE_MS - 1) },
    "ratelimit",
    100,
  ],
  [
    "a shadow",
    maxRatelimit,
    { ratelimit: limited(1, MINUTE_MS, { shadow: true }) },
    "ratelimit",
    100,
  ],
  [
    "slots",
    maxRatelimit,
    { ratelimit: limited(1, MINUTE_MS, { algorithm: "concurrent" }) },
    "ratelimit",
    100,
  ],
  ["a larger bucket", maxRatelimit, { ratelimit: bucket(1, 101) }, "ratelimit", 100],
  ["a bucket that fills faster", maxRatelimit, { ratelimit: bucket(101, 1) }, "ratelimit", 100],
])("%s is above a ceiling", (_, ceilings, given, field, limit) => {
  expect(aboveCeiling(ceilings, given, NOW)).toEqual({ field, limit });
});

test("a change of limits gives the key the one named default, unless that stays the same", () => {
  const [one, other] = [limited(1, MINUTE_MS), limited(2, MINUTE_MS)];
  const beside = { ...other, name: "beside" };
  expect(givenByLimits([one], [{ ...one }, beside])).toEqual({});
  expect(givenByLimits([beside], [])).toEqual({});
  expect(givenByLimits([one], [beside, other])).toEqual({ ratelimit: other });
  expect(givenByLimits([one], [beside])).toEqual({ ratelimit: null });
});
