import fc from "fast-check";
import { expect, test } from "vitest";
import { BYTE_LENGTH, formatSecret, PREFIX_PATTERN } from "./format.js";
import { secretForm, secretStart, shownBodies } from "./shown-start.js";

const prefixes = fc.oneof(fc.constant(""), fc.stringMatching(PREFIX_PATTERN));
const secretBytes = fc.uint8Array({ minLength: BYTE_LENGTH.min, maxLength: BYTE_LENGTH.max });

test("a secret in the format of another has its prefix and, up to 135 bytes, its length", () => {
  fc.assert(
    fc.property(prefixes, secretBytes, (prefix, bytes) => {
      const form = secretForm(secretStart(formatSecret(prefix, bytes)));
      expect(form.prefix).toBe(prefix);
      if (bytes.length < 136 || bytes.length > 145) expect(form.byteLength).toBe(bytes.length);
      else expect([bytes.length, bytes.length - 112]).toContain(form.byteLength);
    }),
  );
});

test("a secret can be made in the format of any start", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 32 }), (start) => {
      const { prefix, byteLength } = secretForm(start);
      const secret = formatSecret(prefix, new Uint8Array(byteLength));
      const again = secretForm(secretStart(secret));
      expect(again.prefix).toBe(prefix);
      if (byteLength < 136 || byteLength > 145) expect(again.byteLength).toBe(byteLength);
      else expect([byteLength, byteLength - 112]).toContain(again.byteLength);
    }),
    { examples: [[shownBodies(139).highest]] },
  );
});
