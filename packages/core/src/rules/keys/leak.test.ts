import { expect, test } from "vitest";
import { decideLeak, isDeadForGood, LEAK_POLICIES } from "./leak.js";
import { DEAD_SINCE } from "./rotation.js";

const KEY = { canRotate: true, keepsAuditLog: true };

test("the policy is followed if that is possible", () => {
  for (const policy of LEAK_POLICIES) expect(decideLeak(policy, KEY)).toBe(policy);
});

test("a key is disabled if it cannot have a successor that its owner could fetch", () => {
  expect(decideLeak("rotate", { ...KEY, canRotate: false })).toBe("disable");
});

test("a key is disabled, and not deleted, if nothing would remember it", () => {
  expect(decideLeak("delete", { ...KEY, keepsAuditLog: false })).toBe("disable");
});

test("a key is dead for good once it was rotated and has expired on every clock", () => {
  expect(isDeadForGood({ rotatedTo: "key_2", expires: DEAD_SINCE })).toBe(true);
  expect(isDeadForGood({ rotatedTo: "key_2", expires: DEAD_SINCE + 1 })).toBe(false);
  expect(isDeadForGood({ rotatedTo: null, expires: DEAD_SINCE })).toBe(false);
});
