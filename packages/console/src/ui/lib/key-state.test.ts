import { expect, test } from "vitest";
import { checkedState, listedState } from "./key-state.js";
import type { Key } from "./types.js";

const KEY: Key = {
  id: "key_1",
  start: "maps_2x",
  apiId: "api_1",
  createdAt: 0,
  enabled: true,
  roles: [],
  permissions: [],
};

test.each([
  ["a switched off key", { enabled: false }, { check: "enabled" }, "disabled"],
  [
    "an expired key",
    { enabled: false, expires: 100 },
    { check: "expiry", expires: 100 },
    "expired",
  ],
  [
    "a key that nobody used",
    { enabled: false, idleExpiresAt: 100 },
    { check: "idle", idleExpiresAt: 100 },
    "unused too long",
  ],
  [
    "a key that has not started",
    { enabled: false, startsAt: 101 },
    { check: "start", startsAt: 101 },
    "not started",
  ],
  [
    "a key without uses",
    { enabled: false, remaining: 0 },
    { check: "uses", remaining: 0 },
    "no uses left",
  ],
] as const)("%s has the same state in a list and on its page", (_, fields, check, text) => {
  expect(listedState({ ...KEY, ...fields }, 100).text).toBe(text);
  expect(checkedState([{ ...check, passed: false }]).text).toBe(text);
});

test("a key at its limit is rate limited, not active", () => {
  expect(checkedState([{ check: "ratelimit", passed: false }]).text).toBe("rate limited");
});

test("a key is active even if it lacks what a request asks for", () => {
  const checks = [
    { check: "permissions", passed: false },
    { check: "address", passed: false },
    { check: "uses", passed: false, remaining: 3, cost: 10 },
  ];
  expect(checkedState(checks).text).toBe("active");
  expect(checkedState([{ check: "enabled", passed: true }]).text).toBe("active");
});
