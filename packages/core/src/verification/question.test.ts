import { describe, expect, test } from "vitest";
import { fixedWindows } from "../testing/records.js";
import { isSameLimits, type LimitRequest } from "./question.js";

const TILES: LimitRequest = { name: "tiles", cost: 1, adHoc: null, isOptional: false };
const figures = fixedWindows(5, 1_000);
const OWN: LimitRequest = { ...TILES, name: "own", adHoc: figures };

describe("two requests name the same limits", () => {
  test("if they are the same list, or equal lists", () => {
    const list = [TILES, OWN];
    expect(isSameLimits(list, list)).toBe(true);
    expect(isSameLimits(list, [{ ...TILES }, { ...OWN, adHoc: { ...figures } }])).toBe(true);
    expect(isSameLimits([], [])).toBe(true);
  });

  test.each([
    ["another name", { name: "streams" }],
    ["another cost", { cost: 2 }],
    ["one that may be unknown", { isOptional: true }],
    ["no figures", { adHoc: null }],
    ["another limit", { adHoc: { ...figures, limit: 6 } }],
    ["another duration", { adHoc: { ...figures, duration: 1_001 } }],
    ["another algorithm", { adHoc: { ...figures, algorithm: "sliding" as const } }],
    ["another burst", { adHoc: { ...figures, burst: 6 } }],
    ["a shadow", { adHoc: { ...figures, shadow: true } }],
  ])("but not with %s, in either order", (_, change) => {
    const other = [TILES, { ...OWN, ...change }];
    expect(isSameLimits([TILES, OWN], other)).toBe(false);
    expect(isSameLimits(other, [TILES, OWN])).toBe(false);
  });

  test("but not with more of them, or in another order", () => {
    expect(isSameLimits([TILES], [TILES, OWN])).toBe(false);
    expect(isSameLimits([TILES, OWN], [TILES])).toBe(false);
    expect(isSameLimits([TILES, OWN], [OWN, TILES])).toBe(false);
  });
});
