import { expect, test } from "vitest";
import { fitting, padded, widthOf } from "./text-width.js";

test.each([
  ["", 0],
  ["tides", 5],
  ["süd", 3],
  ["su\u0308d", 3],
  ["潮汐", 4],
  ["조석", 4],
  ["ｔ", 2],
  ["🔑", 2],
  ["潮a🔑", 5],
])("%j is %i columns wide", (text, width) => {
  expect(widthOf(text)).toBe(width);
  expect(widthOf(padded(text, 9))).toBe(9);
  expect(padded(text, 0)).toBe(text);
});

test.each([
  ["abc", 2, "ab"],
  ["潮汐", 3, "潮"],
  ["潮汐", 4, "潮汐"],
  ["潮汐", 1, "潮"],
  ["x🔑🔑", 4, "x🔑"],
  ["u\u0308ber", 1, "u\u0308"],
])("of %j, %i columns hold %j", (text, width, start) => {
  expect(text.slice(0, fitting(text, width))).toBe(start);
});
