import { expect, test } from "vitest";
import { durationMs } from "./duration.js";

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
])("%j is not a duration", (duration) => {
  expect(durationMs(duration)).toBeNull();
});
