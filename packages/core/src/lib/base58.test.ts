import { describe, expect, test } from "vitest";
import {
  BASE58_ALPHABET,
  BITS_PER_BASE58_CHARACTER,
  decodeBase58,
  encodeBase58,
  encodeFixedWidth,
} from "./base58.js";

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe("BASE58_ALPHABET", () => {
  test("has 58 characters, none twice, in ASCII order", () => {
    const sorted = [...new Set(BASE58_ALPHABET)].sort();
    expect(sorted).toHaveLength(58);
    expect(sorted.join("")).toBe(BASE58_ALPHABET);
  });

  test("has none of the characters that are mistaken for one another", () => {
    expect(BASE58_ALPHABET).not.toMatch(/[0OIl]/);
  });

  test("one character carries a little under six bits", () => {
    expect(2 ** BITS_PER_BASE58_CHARACTER).toBeCloseTo(58, 9);
  });
});

// The test vectors of draft-msporny-base58-03, section 5.
describe.each([
  { bytes: bytesOf("Hello World!"), text: "2NEpo7TZRRrLZSi2U" },
  {
    bytes: bytesOf("The quick brown fox jumps over the lazy dog."),
    text: "USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z",
  },
  { bytes: Uint8Array.of(0, 0, 0x28, 0x7f, 0xb4, 0xcd), text: "11233QC4" },
  { bytes: Uint8Array.of(), text: "" },
  { bytes: Uint8Array.of(0), text: "1" },
  { bytes: Uint8Array.of(57), text: "z" },
  { bytes: Uint8Array.of(58), text: "21" },
  { bytes: Uint8Array.of(255), text: "5Q" },
])("the published vector $text", ({ bytes, text }) => {
  test("is the encoding of its bytes", () => {
    expect(encodeBase58(bytes)).toBe(text);
  });

  test("is decoded to its bytes", () => {
    expect(decodeBase58(text)).toEqual(bytes);
  });
});

test.each(["0", "O", "I", "l", " ", "_", "-", "é", "🔑", "2NEpo7TZRRrLZSi2U\n"])(
  "a text with a character outside of the alphabet is not decoded: %j",
  (text) => {
    expect(decodeBase58(text)).toBeNull();
  },
);

describe("encodeFixedWidth", () => {
  test.each([
    { value: 0, width: 3, text: "111" },
    { value: 57, width: 3, text: "11z" },
    { value: 58, width: 3, text: "121" },
    { value: 58 ** 3 - 1, width: 3, text: "zzz" },
    { value: 58 ** 9 - 1, width: 9, text: "zzzzzzzzz" },
  ])("$value in $width characters is $text", ({ value, width, text }) => {
    expect(encodeFixedWidth(value, width)).toBe(text);
  });
});
