import { describe, expect, test } from "vitest";
import {
  isLimitAlgorithm,
  isSlotWindow,
  kindOfWindow,
  kindText,
  LIMIT_ALGORITHMS,
} from "./limit-state.js";

test("an algorithm is one of the four, and nothing else", () => {
  for (const algorithm of ["fixed", "sliding", "token-bucket", "concurrent"])
    expect(isLimitAlgorithm(algorithm)).toBe(true);
  for (const other of ["", "s", "Fixed", undefined, null, 0, ["fixed"]])
    expect(isLimitAlgorithm(other)).toBe(false);
});

describe("the name of a window says", () => {
  const duration = 60_000;
  const windows = (kind: string) => [
    `n:${kind}:requests`,
    `a:12:${kind}:x%3Ay`,
    `${kind}:requests`,
  ];

  test.each(LIMIT_ALGORITHMS)("that its limit is %s, and the duration", (algorithm) => {
    for (const window of windows(kindText({ algorithm, duration }))) {
      expect(kindOfWindow(window)).toEqual({ algorithm, duration });
      expect(isSlotWindow(window)).toBe(algorithm === "concurrent");
    }
  });

  test("nothing if core did not write it", () => {
    for (const window of ["", "60000", "n:requests", "n:x60000:requests", " 60000:requests"]) {
      expect(kindOfWindow(window)).toBeNull();
      expect(isSlotWindow(window)).toBe(false);
    }
  });
});

describe("kinds of windows", () => {
  test("are read once while they are cached, and a thousand are cached", () => {
    const read = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => kindOfWindow(`n:${from + index}:read`));
    // Fewer than a thousand kinds are left from other tests, and none of these.
    const before = read(1_000_000, 1_001_000);
    const known = read(2_000_000, 2_000_500);
    expect(read(2_000_000, 2_000_500).every((kind, index) => kind === known[index])).toBe(true);
    expect(read(1_000_000, 1_001_000).some((kind, index) => kind === before[index])).toBe(false);
  });
});
