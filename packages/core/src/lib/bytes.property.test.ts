import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeBase64Url, doesMatchBytes, encodeBase64Url, encodeLengthPrefixed } from "./bytes.js";

// A small alphabet, NUL among it, so that lists which join to the same text are common.
const texts = fc.array(
  fc.string({ unit: fc.constantFrom("a", "b", "\0", "é", "🔑"), maxLength: 3 }),
  { maxLength: 4 },
);

test("two byte strings match exactly when they have the same bytes", () => {
  const bytes = fc.uint8Array({ maxLength: 3, max: 2 });
  fc.assert(
    fc.property(bytes, bytes, (left, right) => {
      expect(doesMatchBytes(left, right)).toBe(Buffer.compare(left, right) === 0);
    }),
    { numRuns: 1_000 },
  );
});

test("two lists of texts give the same bytes only when they are the same list", () => {
  fc.assert(
    fc.property(texts, texts, (left, right) => {
      const areSameBytes = doesMatchBytes(encodeLengthPrefixed(left), encodeLengthPrefixed(right));
      expect(areSameBytes).toBe(JSON.stringify(left) === JSON.stringify(right));
    }),
    { numRuns: 1_000 },
  );
});

const bytes = fc.uint8Array({ maxLength: 200 });

test("decoding gives back the bytes that were encoded", () => {
  fc.assert(
    fc.property(bytes, (input) => {
      expect(decodeBase64Url(encodeBase64Url(input))).toEqual(input);
    }),
  );
});

test("the encoding is that of node:buffer", () => {
  fc.assert(
    fc.property(bytes, (input) => {
      expect(encodeBase64Url(input)).toBe(Buffer.from(input).toString("base64url"));
    }),
  );
});

test("no two texts mean the same bytes: encoding gives back the decoded text", () => {
  const text = fc.string({ unit: fc.constantFrom(..."AZaz09-_+/= "), maxLength: 12 });
  fc.assert(
    fc.property(text, (input) => {
      const decoded = decodeBase64Url(input);
      if (decoded !== null) expect(encodeBase64Url(decoded)).toBe(input);
    }),
  );
});
