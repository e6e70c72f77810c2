import { describe, expect, test } from "vitest";
import { slidingAfterReturn, slidingWithoutEmpty } from "./sliding-window.js";

/** A minute in groups of 3,750 ms, of which the one that begins at 60,000 is the latest. */
const MINUTE = { duration: 60_000 };
const GROUP_MS = 3_750;
const AT = 61_000;

describe("units that come back to a sliding limit", () => {
  const back = (at: number, units = 2) =>
    slidingAfterReturn({ at: AT, used: 3, earlier: [5, 1, 4] }, MINUTE, at, units);

  test("return to the group that they came from", () => {
    expect(back(60_000)).toEqual({ at: AT, used: 1, earlier: [5, 1, 4] });
    expect(back(59_999)).toEqual({ at: AT, used: 3, earlier: [3, 1, 4] });
    expect(back(60_000 - 2 * GROUP_MS - 1)).toEqual({ at: AT, used: 3, earlier: [5, 1, 2] });
    expect(back(60_000 - 3 * GROUP_MS - 1)).toEqual({ at: AT, used: 3, earlier: [5, 1, 4] });
  });

  test("never make a group negative", () => {
    expect(back(60_000, 9).used).toBe(0);
    expect(back(59_999 - GROUP_MS, 9).earlier).toEqual([5, 0, 4]);
  });
});

describe("a sliding limit whose latest group is empty", () => {
  test("is as if an earlier group had been the latest", () => {
    const empty = { at: AT, used: 0, earlier: [0, 5, 0, 2] };
    const before = 60_000 - GROUP_MS - 1;
    expect(slidingWithoutEmpty(empty, MINUTE)).toEqual({ at: before, used: 5, earlier: [0, 2] });
  });

  test.each([
    ["something is left", { at: AT, used: 1, earlier: [0, 5] }],
    ["nothing is left of any", { at: AT, used: 0, earlier: [0, 0] }],
  ])("is unchanged if %s", (_, state) => {
    expect(slidingWithoutEmpty(state, MINUTE)).toBe(state);
  });
});
