import { describe, expect, test } from "vitest";
import { formatSecret } from "./format.js";
import { secretForm, secretStart } from "./shown-start.js";

const startOf = (prefix: string, byteLength: number, fill = 170) =>
  secretStart(formatSecret(prefix, new Uint8Array(byteLength).fill(fill)));

describe("the form of a secret", () => {
  test.each([
    ["", 16],
    ["pay", 17],
    ["pay_live", 24],
    ["pay-live", 32],
    ["a_b_c", 48],
    ["p", 64],
    ["sixteen-letters_", 255],
  ])(
    "that was made with the prefix %j and %d bytes is recognised by its start",
    (given, byteLength) => {
      const prefix = given.replace(/_$/, "");
      expect(secretForm(startOf(prefix, byteLength))).toEqual({ prefix, byteLength });
    },
  );

  test("of 136 to 145 bytes may be taken for a shorter one of at least 24", () => {
    expect(secretForm("RNvXX")).toEqual({ prefix: "", byteLength: 24 });
    expect(secretForm(startOf("", 136, 255)).byteLength).toBe(136);
  });

  test.each([
    ["", ""],
    ["sk_live_", "sk_live"],
    ["sk_live_4eC3", "sk_live"],
    ["4eC3", ""],
    ["sk-proj-4e", ""],
    ["_x", ""],
    ["a__x", ""],
    ["seventeen-letters_x", ""],
    ["spaced out_x", ""],
  ])(
    "that was made elsewhere and begins with %j is the default one, with the prefix %j",
    (start, prefix) => {
      expect(secretForm(start)).toEqual({ prefix, byteLength: 16 });
    },
  );

  test("is recognised by the start for each of the other lengths", () => {
    const lengths = Array.from({ length: 240 }, (_, at) => 16 + at);
    for (const byteLength of lengths.filter((length) => length < 136 || length > 145))
      expect(secretForm(startOf("pay", byteLength, 255))).toEqual({ prefix: "pay", byteLength });
  });
});
