import { expect, test } from "vitest";
import { meaningOf, passesAt, seen, wouldPassAt } from "./checks.js";
import { countdown, fromNow, perSpan, queryText, span } from "./words.js";

const NOW = Date.UTC(2031, 0, 1);
const limit = {
  check: "ratelimit",
  passed: false,
  name: "default",
  limit: 10,
  remaining: 0,
  cost: 1,
};

test("a limit passes when its window ends, a token bucket as soon as it has room", () => {
  const check = { ...limit, reset: NOW + 60_000, retryAfterMs: 2_000 };
  expect(passesAt(check, NOW)).toBe(NOW + 60_000);
  expect(passesAt({ ...check, algorithm: "token-bucket" }, NOW)).toBe(NOW + 2_000);
});

test("uses pass with the next refill, and a key that starts later at its start", () => {
  const uses = { check: "uses", passed: false, remaining: 0, cost: 1 };
  expect(passesAt({ ...uses, nextRefillAt: NOW + 5, retryAfterMs: 5 }, NOW)).toBe(NOW + 5);
  expect(passesAt(uses, NOW)).toBeNull();
  expect(passesAt({ check: "start", passed: false, startsAt: NOW + 9, retryAfterMs: 9 }, NOW)).toBe(
    NOW + 9,
  );
});

test("a key passes when the last of its checks does, and never if waiting does not help one of them", () => {
  const soon = { ...limit, reset: NOW + 1_000, retryAfterMs: 1_000 };
  const late = { check: "uses", passed: false, nextRefillAt: NOW + 9_000, retryAfterMs: 9_000 };
  const off = { check: "enabled", passed: false };
  expect(wouldPassAt([soon, late], NOW)).toBe(NOW + 9_000);
  expect(wouldPassAt([soon, off], NOW)).toBeNull();
  expect(wouldPassAt([{ ...off, passed: true }], NOW)).toBeNull();
});

test("the result of a check is put into words", () => {
  expect(seen({ check: "enabled", passed: false }, NOW)).toBe("The key is disabled");
  expect(
    seen({ check: "permissions", passed: false, missing: { and: ["a", { or: ["b", "c"] }] } }, NOW),
  ).toBe("Missing: a and (b or c)");
  expect(seen({ ...limit, remaining: 3, burst: 20 }, NOW)).toBe(
    "3 of 20 left; this request takes 1",
  );
  expect(seen({ check: "expiry", passed: false, expires: NOW - 1 }, NOW)).toContain(
    "Expired 2030-12-31T23:59:59.999Z",
  );
  expect(seen({ check: "address", passed: false }, NOW)).toContain("no address was given");
});

test("every verdict is put into words", () => {
  for (const code of [
    "VALID",
    "NOT_FOUND",
    "DISABLED",
    "EXPIRED",
    "NOT_STARTED",
    "FORBIDDEN",
    "INSUFFICIENT_PERMISSIONS",
    "RATE_LIMITED",
    "USAGE_EXCEEDED",
  ])
    expect(meaningOf({ code, valid: code === "VALID" }).way, code).not.toBe("");
});

test("spans and instants are written in their largest unit", () => {
  expect([span(1_000), span(90_000), span(86_400_000), span(1_500)]).toEqual([
    "1 second",
    "90 seconds",
    "1 day",
    // In the reader's language.
    `${new Intl.NumberFormat().format(1_500)} ms`,
  ]);
  expect([perSpan(60_000), perSpan(300_000)]).toEqual(["per minute", "per 5 minutes"]);
  expect([countdown(59_001), countdown(61_000), countdown(90_061_000)]).toEqual([
    "1 min 0 s",
    "1 min 1 s",
    "1 d 1 h",
  ]);
  expect([fromNow(NOW - 500, NOW), fromNow(NOW + 120_000, NOW)]).toEqual(["now", "in 2 min."]);
  expect(queryText({ or: ["a", "b"] })).toBe("a or b");
});

test("advice about spent uses depends on the refill", () => {
  const wayOf = (check: object) =>
    meaningOf({
      code: "USAGE_EXCEEDED",
      valid: false,
      checks: [{ check: "uses", passed: false, ...check }],
    }).way;
  expect(wayOf({})).toBe("Add uses.");
  expect(wayOf({ nextRefillAt: NOW })).toBe("Add uses, or wait for the next refill.");
});

test("a key with an allow-list is not called refused if no address was given", () => {
  const address = { check: "address", passed: false };
  const titleOf = (...checks: { check: string; passed: boolean; ipAddress?: string }[]) =>
    meaningOf({ code: "FORBIDDEN", valid: false, checks }).title;
  expect(titleOf(address)).toBe("It depends on the address");
  expect(titleOf({ ...address, ipAddress: "203.0.113.9" })).toBe("Refused: wrong address");
  expect(titleOf(address, { check: "environment", passed: false })).toBe(
    "Refused: wrong environment",
  );
  expect(titleOf({ check: "api", passed: false })).toBe("Refused: wrong API");
  expect(titleOf()).toBe("Refused: not allowed here");
});
