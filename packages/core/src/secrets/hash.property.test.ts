import { createHash, createHmac } from "node:crypto";
import { sha256 } from "@noble/hashes/sha2.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  createSecretHasher,
  importedHash,
  nativeSha256,
  portableSha256,
  sha256Bytes,
} from "./hash.js";
import { canShowStart, importedStart } from "./shown-start.js";

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

const printable = fc.stringMatching(/^[\x20-\x7e]{1,512}$/);

test("a secret that another system hashed is found by the secret itself", () => {
  fc.assert(
    fc.property(printable, (secret) => {
      const digest = createHash("sha256").update(secret);
      const bytes = digest.digest();
      expect(importedHash(bytes.toString("base64"), "sha256_base64")).toBe(portableSha256(secret));
      expect(importedHash(bytes.toString("hex"), "sha256_hex")).toBe(portableSha256(secret));
    }),
  );
});

test("no two texts of base64 mean the same hash", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z0-9+/]{43}=$/), (value) => {
      const hash = importedHash(value, "sha256_base64");
      if (hash !== null) expect(Buffer.from(hash, "base64url").toString("base64")).toBe(value);
    }),
  );
});

test("the shown start of a foreign secret is a beginning of it, and is empty or leaves at least 28 characters hidden", () => {
  const hexadecimal = fc.stringMatching(/^([A-Za-z0-9-]{1,16}_)?[0-9a-f]{1,64}$/);
  fc.assert(
    fc.property(hexadecimal, (secret) => {
      const start = importedStart(secret);
      expect(secret.startsWith(start)).toBe(true);
      expect(canShowStart(secret, start)).toBe(true);
      if (start !== "") expect(secret.length - start.length).toBeGreaterThanOrEqual(28);
    }),
  );
});

test("the shown start of any secret could have been given with an import", () => {
  fc.assert(
    fc.property(printable, (secret) => {
      expect(canShowStart(secret, importedStart(secret))).toBe(true);
    }),
  );
});
