import { expect, test } from "vitest";
import { decideLeak, isDeadForGood, LEAK_POLICIES } from "./leak.js";

const NOW = 1_000;
const KEY = { canRotate: true, keepsAuditLog: true };

test("what the policy says is done where it can be done", () => {
  for (const policy of LEAK_POLICIES) expect(decideLeak(policy, KEY)).toBe(policy);
});

test("a key is disabled where it can have no successor that its owner could fetch", () => {
  expect(decideLeak("rotate", { ...KEY, canRotate: false })).toBe("disable");
});

test("a key is disabled, and not deleted, where nothing would remember it", () => {
  expect(decideLeak("delete", { ...KEY, keepsAuditLog: false })).toBe("disable");
});

test("a key is dead for good when it was rotated and its time is over", () => {
  expect(isDeadForGood({ rotatedTo: "key_2", expires: NOW }, NOW)).toBe(true);
  expect(isDeadForGood({ rotatedTo: "key_2", expires: NOW + 1 }, NOW)).toBe(false);
  expect(isDeadForGood({ rotatedTo: null, expires: NOW }, NOW)).toBe(false);
});
