import { expect, test } from "vitest";
import { DEFAULT_LIMIT, isAutoApplied } from "./rate-limit.js";

test.each([true, false, undefined])(
  "the limit named default applies by itself, with autoApply %s",
  (autoApply) => {
    expect(isAutoApplied({ name: DEFAULT_LIMIT, autoApply })).toBe(true);
  },
);

test("another limit applies by itself only if autoApply says so", () => {
  expect(isAutoApplied({ name: "tiles", autoApply: true })).toBe(true);
  expect(isAutoApplied({ name: "tiles", autoApply: false })).toBe(false);
  expect(isAutoApplied({ name: "tiles" })).toBe(false);
});

test("names differ by case: Default is another limit", () => {
  expect(isAutoApplied({ name: "Default" })).toBe(false);
});
