import { describe, expect, test } from "vitest";
import { attemptTaking, fixedWindows } from "../testing/records.js";
import { currentWindow, windowStartAt } from "./rate-window.js";

const MINUTE = 60_000;

describe("windowStartAt", () => {
  test.each([
    {
      label: "a millisecond before an edge lies in the window before",
      now: 119_999,
      startedAt: 60_000,
    },
    { label: "an edge itself opens the next window", now: 120_000, startedAt: 120_000 },
    {
      label: "a millisecond after an edge lies in the window it opened",
      now: 120_001,
      startedAt: 120_000,
    },
  ])("$label", ({ now, startedAt }) => {
    expect(windowStartAt(now, MINUTE)).toBe(startedAt);
  });

  test("windows are aligned to the epoch, not to the first use", () => {
    expect(windowStartAt(Date.parse("2026-05-15T10:37:42.123Z"), 3_600_000)).toBe(
      Date.parse("2026-05-15T10:00:00.000Z"),
    );
  });

  test("the first window opens at the epoch", () => {
    expect(windowStartAt(0, MINUTE)).toBe(0);
  });

  test("a window of one millisecond is that millisecond", () => {
    expect(windowStartAt(1_234_567, 1)).toBe(1_234_567);
  });

  test("a window longer than all time so far opened at the epoch", () => {
    expect(windowStartAt(1_700_000_000_000, Number.MAX_SAFE_INTEGER)).toBe(0);
  });
});

describe("currentWindow", () => {
  test("without a stored window an empty one counts", () => {
    expect(currentWindow(null, MINUTE, 90_000)).toEqual({ at: 60_000, used: 0, earlier: [] });
  });

  test("within its window, earlier units still count", () => {
    const stored = { at: 60_000, used: 5, earlier: [] };
    expect(currentWindow(stored, MINUTE, 60_000)).toEqual(stored);
    expect(currentWindow(stored, MINUTE, 119_999)).toEqual(stored);
  });

  test("at the edge, earlier units no longer count", () => {
    expect(currentWindow({ at: 60_000, used: 5, earlier: [] }, MINUTE, 120_000)).toEqual({
      at: 120_000,
      used: 0,
      earlier: [],
    });
  });

  test("a clock set back reopens no window: the stored one still counts", () => {
    const stored = { at: 120_000, used: 5, earlier: [] };
    expect(currentWindow(stored, MINUTE, 60_000)).toEqual(stored);
    expect(currentWindow(stored, MINUTE, 119_999)).toEqual(stored);
  });
});

describe("a limit with fixed windows", () => {
  const limit = fixedWindows();

  test.each([
    { used: 0, cost: 9, isAdmitted: true },
    { used: 0, cost: 10, isAdmitted: true },
    { used: 0, cost: 11, isAdmitted: false },
    { used: 8, cost: 1, isAdmitted: true },
    { used: 9, cost: 1, isAdmitted: true },
    { used: 10, cost: 1, isAdmitted: false },
  ])(
    "with $used of 10 used, a cost of $cost is admitted: $isAdmitted",
    ({ used, cost, isAdmitted }) => {
      const stored = { at: 60_000, used, earlier: [] };
      expect(attemptTaking(stored, limit, cost, 90_000) !== null).toBe(isAdmitted);
    },
  );

  test("an admitted cost is added to what was used", () => {
    const stored = { at: 60_000, used: 3, earlier: [] };
    expect(attemptTaking(stored, limit, 4, 90_000)).toEqual({ at: 60_000, used: 7, earlier: [] });
  });

  test("a full window is empty again at its edge", () => {
    const full = { at: 60_000, used: 10, earlier: [] };
    expect(attemptTaking(full, limit, 1, 119_999)).toBeNull();
    expect(attemptTaking(full, limit, 1, 120_000)).toEqual({ at: 120_000, used: 1, earlier: [] });
  });

  test("a clock set back admits nothing that the latest window refuses", () => {
    expect(attemptTaking({ at: 120_000, used: 10, earlier: [] }, limit, 1, 60_000)).toBeNull();
  });

  test("a cost of 0 fits, also into a full window", () => {
    const full = { at: 60_000, used: 10, earlier: [] };
    expect(attemptTaking(full, limit, 0, 90_000)).toEqual(full);
  });

  test("when the limit was lowered below what was used, even a cost of 0 is refused until the window ends", () => {
    const stored = { at: 60_000, used: 5, earlier: [] };
    expect(attemptTaking(stored, fixedWindows(3), 0, 119_999)).toBeNull();
    expect(attemptTaking(stored, fixedWindows(3), 3, 120_000)).not.toBeNull();
  });

  test("the greatest limit and the greatest cost are counted exactly", () => {
    const greatest = fixedWindows(Number.MAX_SAFE_INTEGER);
    expect(attemptTaking(null, greatest, Number.MAX_SAFE_INTEGER, 0)).not.toBeNull();
    const almostFull = { at: 0, used: Number.MAX_SAFE_INTEGER - 1, earlier: [] };
    expect(attemptTaking(almostFull, greatest, 1, 0)).not.toBeNull();
    expect(attemptTaking(almostFull, greatest, 2, 0)).toBeNull();
    expect(attemptTaking(almostFull, greatest, Number.MAX_SAFE_INTEGER, 0)).toBeNull();
  });
});
