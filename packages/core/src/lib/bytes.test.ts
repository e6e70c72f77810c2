import { describe, expect, test } from "vitest";
import { decodeBase64Url, doesMatchBytes, encodeBase64Url, encodeLengthPrefixed } from "./bytes.js";

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

const bytesOf = (text: string) => new TextEncoder().encode(text);

// The test vectors of RFC 4648 §10, without padding as §5 allows.
describe.each([
  { plain: "", text: "" },
  { plain: "f", text: "Zg" },
  { plain: "fo", text: "Zm8" },
  { plain: "foo", text: "Zm9v" },
  { plain: "foob", text: "Zm9vYg" },
  { plain: "fooba", text: "Zm9vYmE" },
  { plain: "foobar", text: "Zm9vYmFy" },
])("the published vector of $plain", ({ plain, text }) => {
  test("is the encoding of its bytes", () => expect(encodeBase64Url(bytesOf(plain))).toBe(text));
  test("is decoded to its bytes", () => expect(decodeBase64Url(text)).toEqual(bytesOf(plain)));
});

test("the last two characters of the alphabet are - and _, so that the text needs no escaping in a URL", () => {
  expect(encodeBase64Url(Uint8Array.of(0xfb, 0xff))).toBe("-_8");
});

test.each([
  { text: "Zg==", flaw: "padding" },
  { text: "+/8", flaw: "the alphabet of plain base64" },
  { text: "Zm 9v", flaw: "a space" },
  { text: "Zm9v\n", flaw: "a line end" },
  { text: "Zm9vY", flaw: "a length that no bytes have" },
  { text: "Zh", flaw: "stray low bits after one byte" },
  { text: "Zm9", flaw: "stray low bits after two bytes" },
  { text: "Zmé", flaw: "a character outside of ASCII" },
])("a text with $flaw is not decoded", ({ text }) => {
  expect(decodeBase64Url(text)).toBeNull();
});
