import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeBase64Url, encodeBase64Url } from "./bytes.js";

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
