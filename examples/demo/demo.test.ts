import { describe, expect, onTestFinished, test, vi } from "vitest";
import { step, summary, table } from "./report.mjs";
import { quietRefillDay, quietWindow } from "./times.mjs";

const minute = 60_000;

describe("the demo", () => {
  test("fails if one row is wrong, and prints the expected value", () => {
    const print = vi.spyOn(console, "log").mockReturnValue();
    onTestFinished(() => print.mockRestore());
    step("Compare");
    table(["what", "is"], [{ cells: ["sum", 4], actual: 4, expected: 4 }]);
    expect(summary()).toBe(true);
    table(["what", "is"], [{ cells: ["sum", 5], actual: 5, expected: 4 }]);
    expect(summary()).toBe(false);
    const printed = print.mock.calls.flat().join("\n");
    expect(printed).toContain("    sum    4    ✓");
    expect(printed).toContain("    sum    5    ✗\n      expected 4\n      got      5");
    expect(printed).toContain("✗ 1 of 2 checks failed");
  });

  test("chooses windows that do not end while it runs, whenever it is started", () => {
    for (let now = 0; now < 2 * 366 * 24 * 60 * minute; now += minute / 2) {
      const window = quietWindow(now);
      if (window - (now % window) <= 3 * minute) expect.fail(`a window ends soon after ${now}`);
    }
  });

  test("chooses a refill day that is neither today nor tomorrow", () => {
    for (let day = 0; day < 366; day += 1) {
      const now = day * 24 * 60 * minute;
      const soon = [0, 1].map((ahead) => new Date(now + ahead * 24 * 60 * minute).getUTCDate());
      expect(soon).not.toContain(quietRefillDay(now));
    }
  });
});
