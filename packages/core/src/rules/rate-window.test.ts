import { describe, expect, test } from "vitest";
import { currentWindow, decideWindow, windowStartAt } from "./rate-window.js";

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
    expect(currentWindow(null, MINUTE, 90_000)).toEqual({ startedAt: 60_000, used: 0 });
  });

  test("within its window what was used still counts", () => {
    const stored = { startedAt: 60_000, used: 5 };
    expect(currentWindow(stored, MINUTE, 60_000)).toEqual(stored);
    expect(currentWindow(stored, MINUTE, 119_999)).toEqual(stored);
  });

  test("at the edge what was used counts no more", () => {
    expect(currentWindow({ startedAt: 60_000, used: 5 }, MINUTE, 120_000)).toEqual({
      startedAt: 120_000,
      used: 0,
    });
  });

  test("a clock set back reopens no window: the stored one still counts", () => {
    const stored = { startedAt: 120_000, used: 5 };
    expect(currentWindow(stored, MINUTE, 60_000)).toEqual(stored);
    expect(currentWindow(stored, MINUTE, 119_999)).toEqual(stored);
  });
});

describe("decideWindow", () => {
  const limit = { limit: 10, duration: MINUTE };

  test.each([
    { used: 0, cost: 9, kind: "admit" },
    { used: 0, cost: 10, kind: "admit" },
    { used: 0, cost: 11, kind: "refuse" },
    { used: 8, cost: 1, kind: "admit" },
    { used: 9, cost: 1, kind: "admit" },
    { used: 10, cost: 1, kind: "refuse" },
  ])("with $used of 10 used, a cost of $cost is decided: $kind", ({ used, cost, kind }) => {
    expect(decideWindow({ startedAt: 60_000, used }, limit, cost, 90_000).kind).toBe(kind);
  });

  test("an admitted cost is added to what was used", () => {
    expect(decideWindow({ startedAt: 60_000, used: 3 }, limit, 4, 90_000)).toEqual({
      kind: "admit",
      window: { startedAt: 60_000, used: 7 },
    });
  });

  test("a refused cost takes nothing, not even the part that would fit", () => {
    const stored = { startedAt: 60_000, used: 8 };
    expect(decideWindow(stored, limit, 3, 90_000)).toEqual({ kind: "refuse", window: stored });
  });

  test("a full window is empty again at its edge", () => {
    const full = { startedAt: 60_000, used: 10 };
    expect(decideWindow(full, limit, 1, 119_999).kind).toBe("refuse");
    expect(decideWindow(full, limit, 1, 120_000)).toEqual({
      kind: "admit",
      window: { startedAt: 120_000, used: 1 },
    });
  });

  test("a clock set back admits nothing that the latest window refuses", () => {
    expect(decideWindow({ startedAt: 120_000, used: 10 }, limit, 1, 60_000).kind).toBe("refuse");
  });

  test("a cost of 0 peeks without taking, also at a full window", () => {
    const full = { startedAt: 60_000, used: 10 };
    expect(decideWindow(full, limit, 0, 90_000)).toEqual({ kind: "admit", window: full });
  });

  test("when the limit was lowered below what was used, even a peek is refused until the window ends", () => {
    const lowered = { limit: 3, duration: MINUTE };
    const stored = { startedAt: 60_000, used: 5 };
    expect(decideWindow(stored, lowered, 0, 119_999).kind).toBe("refuse");
    expect(decideWindow(stored, lowered, 3, 120_000).kind).toBe("admit");
  });

  test("the greatest limit and the greatest cost are counted exactly", () => {
    const greatest = { limit: Number.MAX_SAFE_INTEGER, duration: MINUTE };
    expect(decideWindow(null, greatest, Number.MAX_SAFE_INTEGER, 0).kind).toBe("admit");
    const almostFull = { startedAt: 0, used: Number.MAX_SAFE_INTEGER - 1 };
    expect(decideWindow(almostFull, greatest, 1, 0).kind).toBe("admit");
    expect(decideWindow(almostFull, greatest, 2, 0).kind).toBe("refuse");
    expect(decideWindow(almostFull, greatest, Number.MAX_SAFE_INTEGER, 0).kind).toBe("refuse");
  });
});
