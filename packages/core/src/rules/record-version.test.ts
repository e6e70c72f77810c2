import { expect, test } from "vitest";
import { versionAfter } from "./record-version.js";

test("a change of configuration raises the version by one", () => {
  expect(versionAfter(1, true)).toBe(2);
  expect(versionAfter(41, true)).toBe(42);
});

test("a change of uses alone leaves the version as it is", () => {
  expect(versionAfter(1, false)).toBe(1);
});
