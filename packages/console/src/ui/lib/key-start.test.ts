import { expect, test } from "vitest";
import { isHarmless, isMasked, keyStart, pastedKey } from "./key-start.js";

test.each([
  ["  pay_live_3fK ", "pay_live_3fK"],
  ["Bearer pay_live_3fK", "pay_live_3fK"],
  ["authorization: bearer  pay_live_3fK", "pay_live_3fK"],
  ["X-Api-Key: pay_live_3fK", "pay_live_3fK"],
  ['"pay_live_3fK"', "pay_live_3fK"],
  ["build server", "build server"],
])("the key in %j is %j", (pasted, key) => {
  expect(pastedKey(pasted)).toBe(key);
});

test.each([
  ["pay_live_3fK9wXy7zAbCdEf", "pay_live_3fK9wXy7"],
  ["pay_live_3f…", "pay_live_3f"],
  ["pay_live_3f...x9", "pay_live_3f"],
  ["pay_live_3f****", "pay_live_3f"],
  ["ZVYxkFgi9QcXVztZafSnCGkuDYBLa", "ZVYxkFgi"],
  ["a_b_c_ZVYxkFgi9QcXVzt", "a_b_c_ZVYxkFgi"],
  ["0123456789abcdef0123_456789abcdef", "01234567"],
  ["", ""],
])("keys like %j are searched by %j", (text, start) => {
  expect(keyStart(text)).toBe(start);
});

test("only an id or a short start of a key is shown while it is typed", () => {
  for (const text of ["key_1abc", "id_1abc", "pay_live_3fK", "pay_live_3fK9wXy7z…", "pay_live_***"])
    expect([text, isHarmless(text)]).toEqual([text, true]);
  for (const text of ["pay_live_3fK9wXy7zA", "ZVYxkFgi9QcXVzt"])
    expect([text, isHarmless(text)]).toEqual([text, false]);
  expect([isMasked("pay_live_3f"), isMasked("pay_live_3f…")]).toEqual([false, true]);
});
