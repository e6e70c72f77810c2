import { expect, test } from "vitest";
import { isDeeperThan } from "./json.js";

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
}

test("levels are counted from the outermost object or list", () => {
  expect([0, 1, 2, 3].map((levels) => isDeeperThan(2, nested(levels)))).toEqual([
    false,
    false,
    false,
    true,
  ]);
});

test("a value of a million levels is no harder than another, nor is one that holds itself", () => {
  expect(isDeeperThan(999_999, nested(1_000_000))).toBe(true);
  expect(isDeeperThan(1_000_000, nested(1_000_000))).toBe(false);
  const own: unknown[] = [];
  own.push(own, own);
  expect(isDeeperThan(1_000, own)).toBe(true);
});
