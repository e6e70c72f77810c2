import { createHmac } from "node:crypto";
import { sha256 } from "@noble/hashes/sha2.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createSecretHasher, nativeSha256, portableSha256, sha256Bytes } from "./hash.js";

const text = fc.string({ unit: "binary", maxLength: 300 });
const pepperKey = fc
  .uint8Array({ minLength: 32, maxLength: 64 })
  .filter((key) => key.some((byte) => byte !== key[0]));

test("the portable and the native SHA-256 answer the same for every text", () => {
  fc.assert(
    fc.property(text, (secret) => {
      expect(portableSha256(secret)).toBe(nativeSha256?.(secret));
    }),
    { numRuns: 500 },
  );
});

test("SHA-256 of bytes equals that of the portable code", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect([...sha256Bytes(bytes)]).toEqual([...sha256(bytes)]);
    }),
    { numRuns: 300 },
  );
});

test("a hash under a pepper is the HMAC-SHA-256 that node:crypto computes", () => {
  fc.assert(
    fc.property(pepperKey, text, (key, secret) => {
      const expected = createHmac("sha256", key).update(secret, "utf8").digest("base64url");
      expect(createSecretHasher({ current: "p1", keys: { p1: key } }).hash(secret)).toBe(
        `p1.${expected}`,
      );
    }),
    { numRuns: 300 },
  );
});

test("a secret is first looked up by the hash that a new secret gets", () => {
  fc.assert(
    fc.property(pepperKey, pepperKey, text, (older, newer, secret) => {
      const hasher = createSecretHasher({ current: "p2", keys: { p1: older, p2: newer } });
      const candidates = hasher.candidates(secret);
      expect(candidates[0]).toBe(hasher.hash(secret));
      expect(new Set(candidates).size).toBe(3);
    }),
  );
});

test("no hash holds the secret it was made from", () => {
  const secret = fc.string({
    unit: fc.constantFrom(..."abcXYZ019_-"),
    minLength: 8,
    maxLength: 60,
  });
  fc.assert(
    fc.property(secret, pepperKey, (plain, key) => {
      const hasher = createSecretHasher({ current: "p1", keys: { p1: key } });
      for (const candidate of hasher.candidates(plain)) expect(candidate).not.toContain(plain);
    }),
  );
});
