import fc from "fast-check";
import { expect, test } from "vitest";
import { doesMatchBytes, encodeLengthPrefixed } from "./bytes.js";

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
