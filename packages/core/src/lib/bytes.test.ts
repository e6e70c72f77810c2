import { describe, expect, test } from "vitest";
import { doesMatchBytes, encodeLengthPrefixed } from "./bytes.js";

describe("doesMatchBytes", () => {
  test.each([
    { left: [], right: [], answer: true },
    { left: [1, 2, 3], right: [1, 2, 3], answer: true },
    { left: [1, 2, 3], right: [1, 2, 4], answer: false },
    { left: [0, 2, 3], right: [1, 2, 3], answer: false },
    { left: [1, 2], right: [1, 2, 3], answer: false },
    { left: [1, 2, 3], right: [1, 2], answer: false },
    { left: [], right: [0], answer: false },
  ])("$left and $right: $answer", ({ left, right, answer }) => {
    expect(doesMatchBytes(Uint8Array.from(left), Uint8Array.from(right))).toBe(answer);
  });

  test("one flipped bit anywhere makes two byte strings differ", () => {
    const original = Uint8Array.of(0, 127, 128, 255);
    for (const index of original.keys()) {
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = original.map((byte, at) => (at === index ? byte ^ (1 << bit) : byte));
        expect(doesMatchBytes(original, changed)).toBe(false);
      }
    }
  });
});

describe("encodeLengthPrefixed", () => {
  test("puts the length in bytes, not in characters, before each text", () => {
    expect([...encodeLengthPrefixed(["ab", "", "é"])]).toEqual([
      ...[0, 0, 0, 2, 97, 98],
      ...[0, 0, 0, 0],
      ...[0, 0, 0, 2, 0xc3, 0xa9],
    ]);
  });

  test("no texts give no bytes", () => {
    expect([...encodeLengthPrefixed([])]).toEqual([]);
  });

  test.each([
    { left: ["ab", "c"], right: ["a", "bc"] },
    { left: ["a", ""], right: ["", "a"] },
    { left: ["a"], right: ["a", ""] },
  ])("$left and $right, which join to the same text, give different bytes", ({ left, right }) => {
    expect(encodeLengthPrefixed(left)).not.toEqual(encodeLengthPrefixed(right));
  });
});
