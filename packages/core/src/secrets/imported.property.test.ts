import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { importedHash, portableSha256 } from "./hash.js";
import { canShowStart, importedStart } from "./shown-start.js";

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
