import { expect, test } from "vitest";
import { DURATION_ERROR, DURATION_PATTERN, durationMs } from "./duration.js";

test.each([
  [1, 1],
  [2 ** 52, 2 ** 52],
  ["1s", 1_000],
  ["30s", 30_000],
  ["1m", 60_000],
  ["1h", 3_600_000],
  ["1d", 86_400_000],
  ["52124995d", 52_124_995 * 86_400_000],
])("a duration of %j is %d ms", (duration, ms) => {
  expect(durationMs(duration)).toBe(ms);
});

test.each([
  0,
  -1,
  0.5,
  1.5,
  2 ** 52 + 1,
  "52124996d",
  Number.NaN,
  "",
  "1",
  "s",
  "0s",
  "01s",
  "100000000d",
  "1ms",
  "1 s",
  "1S",
  "1s\n",
  null,
  undefined,
  {},
  [5],
])("%j is not a duration", (duration) => {
  expect(durationMs(duration)).toBeNull();
});

test("nothing follows the unit of a duration, and its error names the bounds", () => {
  expect(["1d", "1d ", "1ms", "1d\n"].map((text) => DURATION_PATTERN.test(text))).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(DURATION_ERROR).toContain("from 1 to 2^52");
});
