import { describe, expect, test } from "vitest";
import { formatSecret } from "./format.js";
import { secretForm, secretStart, shownBodies } from "./shown-start.js";

const startOf = (prefix: string, byteLength: number, fill = 170) =>
  secretStart(formatSecret(prefix, new Uint8Array(byteLength).fill(fill)));

/** All lengths that a secret may have. */
const LENGTHS = Array.from({ length: 240 }, (_, at) => 16 + at);

test("a start shows what all bodies of the length begin with, and two more characters for 16 bytes, four more for longer secrets", () => {
  for (const byteLength of LENGTHS) {
    const [lowest, highest] = [0, 255].map((fill) =>
      formatSecret("", new Uint8Array(byteLength).fill(fill)),
    ) as [string, string];
    const common = [...lowest].findIndex((letter, at) => letter !== highest[at]);
    const shown = byteLength === 16 ? 2 : 4;
    expect(startOf("", byteLength), `${byteLength} bytes`).toHaveLength(common + shown);
    expect(shownBodies(byteLength).highest).toBe(highest.slice(0, common + shown));
  }
});

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
    for (const byteLength of LENGTHS.filter((length) => length < 136 || length > 145))
      for (const fill of [0, 255])
        expect(secretForm(startOf("pay", byteLength, fill))).toEqual({ prefix: "pay", byteLength });
  });
});
