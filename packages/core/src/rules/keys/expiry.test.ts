import { expect, test } from "vitest";
import { isExpired } from "./lifecycle.js";

test.each([
  { label: "one millisecond before its expiry a key is alive", now: 999, answer: false },
  { label: "at the instant of its expiry itself a key is dead", now: 1_000, answer: true },
  { label: "one millisecond after its expiry a key is dead", now: 1_001, answer: true },
])("$label", ({ now, answer }) => {
  expect(isExpired(1_000, now)).toBe(answer);
});

test("a key without an expiry never expires", () => {
  expect(isExpired(null, Number.MAX_SAFE_INTEGER)).toBe(false);
});

test("an expiry at the epoch is an expiry, not the absence of one", () => {
  expect(isExpired(0, 0)).toBe(true);
});
