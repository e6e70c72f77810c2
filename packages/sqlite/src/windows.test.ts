import { expect, test } from "vitest";
import { decodeWindows, encodeWindows, findWindow, keptWindows, withWindow } from "./windows.js";

const minute = { name: "requests", durationMs: 60_000, limit: 5 };
const hour = { name: "requests", durationMs: 3_600_000, limit: 5 };
const most = Number.MAX_SAFE_INTEGER;

test.each(["", "requests", 'a "quoted", [name]', "\\", "\u0000\u2028\n", "日本語 😀", "\ud800"])(
  "windows are read as they were written, whatever the name of the limit: %j",
  (name) => {
    const windows = [
      { name, durationMs: 1, window: { startedAt: 0, used: 0 } },
      { name: "other", durationMs: most, window: { startedAt: most, used: most } },
    ];
    for (const count of [0, 1, 2]) {
      const some = windows.slice(0, count);
      expect(decodeWindows(encodeWindows(some))).toEqual(some);
    }
  },
);

test("a window belongs to a name and a duration: one that is set touches no other", () => {
  const windows = withWindow(withWindow([], minute, { startedAt: 60_000, used: 1 }), hour, {
    startedAt: 0,
    used: 2,
  });
  const again = withWindow(windows, minute, { startedAt: 120_000, used: 3 });
  expect(findWindow(windows, minute)).toEqual({ startedAt: 60_000, used: 1 });
  expect(findWindow(again, minute)).toEqual({ startedAt: 120_000, used: 3 });
  expect(findWindow(again, hour)).toEqual({ startedAt: 0, used: 2 });
  expect(again).toHaveLength(2);
  expect(keptWindows(again, [hour])).toHaveLength(1);
  expect(findWindow([], hour)).toBeNull();
});

test.each(["", "{}", "[1]", '["a",0,0,0]', '["a",1,-1,0]', '["a",1,0,0.5]', "[null,1,0,0]", 5])(
  "%j is no list of windows",
  (garbage) => {
    expect(() => decodeWindows(garbage)).toThrow();
  },
);
