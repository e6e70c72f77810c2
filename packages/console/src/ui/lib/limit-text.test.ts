import { describe, expect, test } from "vitest";
import { limitsOf, limitsText, spanOf } from "./limit-text.js";
import type { Limit } from "./types.js";

const LIMITS: readonly [string, Limit][] = [
  ["default 100/1m", { name: "default", limit: 100, duration: 60_000, autoApply: true }],
  [
    "writes 20/90m:sliding:auto",
    { name: "writes", limit: 20, duration: 5_400_000, algorithm: "sliding", autoApply: true },
  ],
  [
    "bursts 5/1s:burst=20:shadow",
    {
      name: "bursts",
      limit: 5,
      duration: 1_000,
      algorithm: "token-bucket",
      burst: 20,
      shadow: true,
    },
  ],
  [
    "flow 5/250ms:token-bucket",
    { name: "flow", limit: 5, duration: 250, algorithm: "token-bucket" },
  ],
  ['"per \\"user\\"\\n" 5/1s', { name: 'per "user"\n', limit: 5, duration: 1_000 }],
  [
    "parallel 5/2m:concurrent",
    { name: "parallel", limit: 5, duration: 120_000, algorithm: "concurrent" },
  ],
];

describe("a limit on a line", () => {
  test.each(LIMITS)("%s", (line, limit) => {
    expect(limitsText([limit])).toBe(line);
    const { ratelimit, ratelimits = [] } = limitsOf(line);
    const { name, autoApply, ...figures } = limit;
    if (name === "default") expect(ratelimit).toEqual(figures);
    else expect(ratelimits).toEqual([{ name, ...figures, ...(autoApply && { autoApply }) }]);
  });

  test.each([
    ["writes", "“writes” must be a name, a number and a duration, such as default 100/1m."],
    ["writes 20", "“writes 20” must be a name, a number and a duration, such as default 100/1m."],
    ["writes 20/1y", "1y must be a duration, such as 30s, 15m, 1h or 7d."],
    [
      "writes 20/1m:slow",
      "“slow” in “writes 20/1m:slow” must be fixed, sliding, token-bucket, concurrent, burst=20, shadow or auto.",
    ],
  ])("%s is refused with an explanation", (line, message) => {
    expect(() => limitsOf(line)).toThrow(new Error(message));
  });
});

test("each line is a limit, empty lines are skipped, and an empty text is no limit", () => {
  expect(limitsOf("default 1/1s\n\n  a 2/1d \nb 3/1h\n")).toEqual({
    ratelimit: { limit: 1, duration: 1_000 },
    ratelimits: [
      { name: "a", limit: 2, duration: 86_400_000 },
      { name: "b", limit: 3, duration: 3_600_000 },
    ],
  });
  expect(limitsOf(" \n")).toEqual({});
  expect(limitsOf(undefined)).toEqual({});
});

test("spans can have every unit", () => {
  expect(["5ms", "5s", "5m", "5h", "5d"].map(spanOf)).toEqual([
    5, 5_000, 300_000, 18_000_000, 432_000_000,
  ]);
});
