import fc from "fast-check";
import { expect, test } from "vitest";
import { checkMetadata, METADATA_BOUNDS } from "./metadata.js";

const refusedNames = ["__proto__", "constructor", "prototype"];
const name = fc.string({ maxLength: 6 }).filter((text) => !refusedNames.includes(text));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: "binary", maxLength: 12 }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const object = fc.dictionary(name, value, { maxKeys: 5, noNullPrototype: true });

test("accepted metadata equals what its JSON text parses to", () => {
  fc.assert(
    fc.property(object, (given) => {
      const check = checkMetadata(given);
      if (!check.ok) return;
      expect(check.metadata).toStrictEqual(JSON.parse(JSON.stringify(given)));
      expect(Buffer.byteLength(JSON.stringify(check.metadata))).toBeLessThanOrEqual(
        METADATA_BOUNDS.maxBytes,
      );
    }),
    { numRuns: 500 },
  );
});

test("a small object of JSON values is always accepted", () => {
  fc.assert(
    fc.property(object, (given) => {
      fc.pre(Buffer.byteLength(JSON.stringify(given)) <= METADATA_BOUNDS.maxBytes);
      expect(checkMetadata(given).ok).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("an object is refused for its size exactly when its JSON is longer than 16,384 bytes", () => {
  const piece = fc.string({
    unit: fc.constantFrom("x", "é", "🔑", '"', "\n", "\ud800"),
    maxLength: 8,
  });
  fc.assert(
    fc.property(piece, fc.integer({ min: 1_000, max: 4_000 }), (text, times) => {
      const given = { a: text.repeat(times), b: [text] };
      expect(checkMetadata(given).ok).toBe(
        Buffer.byteLength(JSON.stringify(given)) <= METADATA_BOUNDS.maxBytes,
      );
    }),
    { numRuns: 300 },
  );
});

test("accepted metadata is accepted again, unchanged", () => {
  fc.assert(
    fc.property(object, (given) => {
      const check = checkMetadata(given);
      if (check.ok) expect(checkMetadata(check.metadata)).toStrictEqual(check);
    }),
  );
});

test("a value of any kind is accepted or refused, and never causes an error", () => {
  fc.assert(
    fc.property(
      fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withSparseArray: true,
        withNullPrototype: true,
      }),
      (given) => {
        for (const candidate of [given, { given }]) {
          const check = checkMetadata(candidate);
          if (!check.ok) expect(check.message).toMatch(/^must /);
        }
      },
    ),
    { numRuns: 500 },
  );
});
