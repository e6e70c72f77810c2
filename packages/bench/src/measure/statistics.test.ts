import { expect, test } from "vitest";
import { quartiles, ratios } from "./statistics.js";

test("quartiles of an odd number of samples are samples", () => {
  expect(quartiles([5, 1, 3, 2, 4])).toEqual({ p25: 2, median: 3, p75: 4 });
});

test("quartiles of an even number of samples lie between their neighbours", () => {
  expect(quartiles([4, 1, 3, 2])).toEqual({ p25: 1.75, median: 2.5, p75: 3.25 });
});

test("one sample is all three of its quartiles", () => {
  expect(quartiles([7])).toEqual({ p25: 7, median: 7, p75: 7 });
});

test("numbers are ordered as numbers, not as text", () => {
  expect(quartiles([10, 9, 100]).median).toBe(10);
});

test("the caller's samples are not reordered", () => {
  const samples = [3, 1, 2];
  quartiles(samples);
  expect(samples).toEqual([3, 1, 2]);
});

test("no samples have no quartiles", () => {
  expect(() => quartiles([])).toThrow(RangeError);
});

test("a ratio is taken round by round, so a slowdown of both sides changes nothing", () => {
  const base = [1, 10, 100];
  expect(ratios([2, 20, 200], base)).toEqual({ p25: 2, median: 2, p75: 2 });
});

test("the ratio leaves out rounds that only one side has", () => {
  expect(ratios([2, 4, 600], [1, 2]).p75).toBe(2);
});
