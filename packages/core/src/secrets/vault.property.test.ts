import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { LatchkeyError } from "../errors.js";
import { createVault } from "./vault.js";

const secret = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 512,
});
const id = fc.string({ unit: fc.constantFrom("a", "b", "_", "1"), minLength: 1, maxLength: 4 });
const row = fc.record({ workspaceId: id, keyId: id });
const vaultKey = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .filter((key) => key.some((byte) => byte !== key[0]));

test("what was sealed for a row opens in that row, and in no other", () => {
  fc.assert(
    fc.property(vaultKey, secret, row, row, (key, plain, from, to) => {
      const vault = createVault({ current: "a", keys: { a: key } }, randomBytes);
      const sealed = vault.seal(plain, from);
      expect(vault.open(sealed, from)).toBe(plain);
      const isSameRow = from.workspaceId === to.workspaceId && from.keyId === to.keyId;
      if (!isSameRow) expect(() => vault.open(sealed, to)).toThrow(LatchkeyError);
    }),
    { numRuns: 300 },
  );
});

test("a text that no vault sealed never opens", () => {
  const vault = createVault(
    { current: "a", keys: { a: Uint8Array.from({ length: 32 }, (_, index) => index) } },
    randomBytes,
  );
  const encoded = fc
    .uint8Array({ maxLength: 100 })
    .map((bytes) => Buffer.from(bytes).toString("base64url"));
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    encoded.map((body) => `v1.a.${body}`),
  );
  fc.assert(
    fc.property(text, row, (sealed, forRow) => {
      expect(() => vault.open(sealed, forRow)).toThrow(LatchkeyError);
    }),
    { numRuns: 500 },
  );
});
