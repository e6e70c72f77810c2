import fc from "fast-check";
import { expect, test } from "vitest";
import { BASE58_ALPHABET, decodeBase58, encodeBase58, encodeFixedWidth } from "./base58.js";

const bytes = fc.uint8Array({ maxLength: 80 });
const text = fc.string({ unit: fc.constantFrom(...BASE58_ALPHABET), maxLength: 80 });

/** The textbook definition, over one big number. */
function naiveEncode(input: Uint8Array): string {
  let value = input.reduce((total, byte) => total * 256n + BigInt(byte), 0n);
  let digits = "";
  for (; value > 0n; value /= 58n) digits = BASE58_ALPHABET.charAt(Number(value % 58n)) + digits;
  const firstNonZero = input.findIndex((byte) => byte !== 0);
  return "1".repeat(firstNonZero === -1 ? input.length : firstNonZero) + digits;
}

test("decoding gives back the bytes that were encoded", () => {
  fc.assert(
    fc.property(bytes, (input) => {
      expect(decodeBase58(encodeBase58(input))).toEqual(input);
    }),
  );
});

test("no two texts mean the same bytes: encoding gives back the decoded text", () => {
  fc.assert(
    fc.property(text, (input) => {
      expect(encodeBase58(decodeBase58(input) as Uint8Array)).toBe(input);
    }),
  );
});

test("the encoding equals the textbook definition over one big number", () => {
  fc.assert(
    fc.property(bytes, (input) => {
      expect(encodeBase58(input)).toBe(naiveEncode(input));
    }),
  );
});

test("texts of one width sort as the numbers they stand for", () => {
  const value = fc.integer({ min: 0, max: 58 ** 9 - 1 });
  fc.assert(
    fc.property(value, value, (left, right) => {
      const [leftText, rightText] = [encodeFixedWidth(left, 9), encodeFixedWidth(right, 9)];
      expect(leftText < rightText).toBe(left < right);
      expect(leftText === rightText).toBe(left === right);
    }),
  );
});
