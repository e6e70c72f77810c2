import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { LatchkeyError } from "../errors.js";
import { decodeBase64Url, encodeBase64Url } from "../lib/bytes.js";
import type { KeyRing } from "./key-ring.js";
import { createVault, type SealedFor } from "./vault.js";

const keyOf = (first: number) => Uint8Array.from({ length: 32 }, (_, index) => first + index);
const SECRET = "pay_live_2wJzFvGkYyXbq7gPzHhT3mLd9R";
const ROW: SealedFor = { workspaceId: "ws_default", keyId: "key_1" };
const spring: KeyRing = { current: "spring", keys: { spring: keyOf(1) } };
const rotated: KeyRing = { current: "autumn", keys: { spring: keyOf(1), autumn: keyOf(100) } };
const vault = createVault(spring, randomBytes);
const sealed = vault.seal(SECRET, ROW);

/** The three parts of a sealed secret, the last one as bytes. */
function partsOf(text: string) {
  const [format, vaultKeyId, encoded] = text.split(".") as [string, string, string];
  return { format, vaultKeyId, bytes: decodeBase64Url(encoded) as Uint8Array };
}

const withBytes = (bytes: Uint8Array) => `v1.spring.${encodeBase64Url(bytes)}`;
const isDamaged = expect.objectContaining({ code: "STORE_CORRUPT" });

describe("seal and open", () => {
  test("a sealed secret opens in its own row", () => {
    expect(vault.open(sealed, ROW)).toBe(SECRET);
  });

  test("a sealed secret is v1, the vault key id, and 24 bytes of nonce, the ciphertext and 16 of tag", () => {
    const { format, vaultKeyId, bytes } = partsOf(sealed);
    expect([format, vaultKeyId]).toEqual(["v1", "spring"]);
    expect(bytes).toHaveLength(24 + SECRET.length + 16);
  });

  test("a sealed secret shows nothing of the secret", () => {
    expect(sealed).not.toContain(SECRET);
    expect(Buffer.from(partsOf(sealed).bytes).toString("latin1")).not.toContain(SECRET.slice(0, 4));
  });

  test("one secret sealed twice is two texts, with two nonces", () => {
    const again = vault.seal(SECRET, ROW);
    expect(again).not.toBe(sealed);
    expect(partsOf(again).bytes.subarray(0, 24)).not.toEqual(partsOf(sealed).bytes.subarray(0, 24));
  });

  test("the nonce comes from the given source, 24 bytes each time", () => {
    const sizes: number[] = [];
    const counting = createVault(spring, (size) => {
      sizes.push(size);
      return new Uint8Array(size).fill(sizes.length);
    });
    const nonces = [counting.seal(SECRET, ROW), counting.seal(SECRET, ROW)].map(
      (text) => partsOf(text).bytes[0],
    );
    expect(sizes).toEqual([24, 24]);
    expect(nonces).toEqual([1, 2]);
  });
});

describe("a sealed secret that was changed does not open", () => {
  test("by any one bit of nonce, ciphertext or tag", () => {
    const { bytes } = partsOf(sealed);
    for (const at of bytes.keys()) {
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = bytes.map((byte, index) => (index === at ? byte ^ (1 << bit) : byte));
        expect(() => vault.open(withBytes(changed), ROW)).toThrow(isDamaged);
      }
    }
  });

  test("by cutting it off anywhere, at its end or at its beginning", () => {
    const { bytes } = partsOf(sealed);
    for (let length = 0; length < bytes.length; length += 1) {
      expect(() => vault.open(withBytes(bytes.subarray(0, length)), ROW)).toThrow(isDamaged);
      expect(() => vault.open(withBytes(bytes.subarray(bytes.length - length)), ROW)).toThrow(
        isDamaged,
      );
    }
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => vault.open(sealed.slice(0, length), ROW)).toThrow(LatchkeyError);
    }
  });

  test("by adding to it", () => {
    const { bytes } = partsOf(sealed);
    expect(() => vault.open(withBytes(Uint8Array.of(...bytes, 0)), ROW)).toThrow(isDamaged);
    expect(() => vault.open(withBytes(Uint8Array.of(0, ...bytes)), ROW)).toThrow(isDamaged);
    for (const addition of [".", ".x", "A", "AA", "=", " "]) {
      expect(() => vault.open(sealed + addition, ROW)).toThrow(isDamaged);
    }
  });

  test.each(["v0", "v2", "V1", "v1 ", "v", "1", ""])("by calling its format %j", (format) => {
    const { vaultKeyId, bytes } = partsOf(sealed);
    expect(() => vault.open(`${format}.${vaultKeyId}.${encodeBase64Url(bytes)}`, ROW)).toThrow(
      isDamaged,
    );
  });

  test.each(["", ".", "..", "v1", "v1.", "v1.spring", "v1.spring.", SECRET])(
    "such as %j",
    (text) => {
      expect(() => vault.open(text, ROW)).toThrow(isDamaged);
      expect(() => vault.open(text, ROW)).toThrow("secret of key_1");
    },
  );

  test("by putting the ciphertext after the nonce of another one", () => {
    const other = partsOf(vault.seal(SECRET, ROW)).bytes;
    const mixed = Uint8Array.of(...other.subarray(0, 24), ...partsOf(sealed).bytes.subarray(24));
    expect(() => vault.open(withBytes(mixed), ROW)).toThrow(isDamaged);
  });
});

test("a sealed secret that another key of the same id does not open reports that the key may be the cause", () => {
  const other = createVault({ current: "spring", keys: { spring: randomBytes(32) } }, randomBytes);
  expect(() => other.open(sealed, ROW)).toThrow(
    "the vault key does not decrypt the secret of key_",
  );
});

describe("a sealed secret that was moved does not open", () => {
  // Ids that join to the same text in several ways: only their lengths tell them apart.
  const workspaceIds = ["ws_a", "ws_ak", "ws_", "w"];
  const keyIds = ["key_1", "ey_1", "key_11", "akey_1", "s_akey_1"];
  const rows = workspaceIds.flatMap((workspaceId) =>
    keyIds.map((keyId) => ({ workspaceId, keyId })),
  );

  test("from any row to any other, over workspaces and keys", () => {
    for (const from of rows) {
      const text = vault.seal(SECRET, from);
      for (const to of rows) {
        if (from === to) expect(vault.open(text, to)).toBe(SECRET);
        else expect(() => vault.open(text, to)).toThrow(isDamaged);
      }
    }
  });

  test("to a row with workspace and key swapped", () => {
    const text = vault.seal(SECRET, { workspaceId: "a", keyId: "b" });
    expect(() => vault.open(text, { workspaceId: "b", keyId: "a" })).toThrow(isDamaged);
  });

  test("to another vault key, even when both names stand for the same bytes", () => {
    const twins = createVault({ current: "a", keys: { a: keyOf(1), b: keyOf(1) } }, randomBytes);
    const text = twins.seal(SECRET, ROW);
    expect(twins.open(text, ROW)).toBe(SECRET);
    expect(() => twins.open(text.replace("v1.a.", "v1.b."), ROW)).toThrow(isDamaged);
  });
});

describe("the ring", () => {
  test("a rotated ring opens what an earlier key sealed, and seals with the current one", () => {
    const later = createVault(rotated, randomBytes);
    expect(later.open(sealed, ROW)).toBe(SECRET);
    expect(partsOf(later.seal(SECRET, ROW)).vaultKeyId).toBe("autumn");
  });

  test("secrets sealed with an earlier key and with the current one are distinguished", () => {
    const later = createVault(rotated, randomBytes);
    expect(later.isCurrent(sealed)).toBe(false);
    expect(later.isCurrent(later.seal(SECRET, ROW))).toBe(true);
    expect(vault.isCurrent(sealed)).toBe(true);
  });

  test("a key id that begins like the current one is not the current one", () => {
    const longer = createVault({ current: "spring2", keys: { spring2: keyOf(1) } }, randomBytes);
    expect(vault.isCurrent(longer.seal(SECRET, ROW))).toBe(false);
    expect(longer.isCurrent(sealed)).toBe(false);
  });

  test("a vault key that was taken out of the ring is named as the cause, not as damage", () => {
    const autumnOnly = createVault(
      { current: "autumn", keys: { autumn: keyOf(100) } },
      randomBytes,
    );
    expect(() => autumnOnly.open(sealed, ROW)).toThrow(
      expect.objectContaining({
        code: "PRECONDITION_FAILED",
        reason: "vault-key-missing",
        message: expect.stringContaining("the secret of key_1 was sealed with is not configured"),
      }),
    );
  });

  test.each(["constructor", "__proto__", "toString"])(
    "a vault key id %s is not in the ring",
    (id) => {
      const text = `v1.${id}.${encodeBase64Url(partsOf(sealed).bytes)}`;
      expect(() => vault.open(text, ROW)).toThrow(
        expect.objectContaining({ code: "PRECONDITION_FAILED" }),
      );
    },
  );

  test("the same id with other bytes opens nothing", () => {
    const impostor = createVault({ current: "spring", keys: { spring: keyOf(2) } }, randomBytes);
    expect(() => impostor.open(sealed, ROW)).toThrow(isDamaged);
  });

  test.each([31, 33, 16, 64])("a vault key of %i bytes is refused: it has exactly 32", (length) => {
    const key = Uint8Array.from({ length }, (_, index) => index);
    expect(() => createVault({ current: "a", keys: { a: key } }, randomBytes)).toThrow(
      new TypeError('"vault.keys.a" must be 32 bytes'),
    );
  });
});

test("no error contains the secret, its sealed text or key material", () => {
  const { bytes } = partsOf(sealed);
  const changed = bytes.map((byte, index) => (index === bytes.length - 1 ? byte ^ 1 : byte));
  const attempts = [
    withBytes(changed),
    sealed.replace("spring", "winter"),
    sealed.replace("v1", "v0"),
    SECRET,
  ];
  for (const text of attempts) {
    try {
      vault.open(text, ROW);
      expect.unreachable();
    } catch (error) {
      const { message, stack, cause, ...rest } = error as LatchkeyError;
      const shown = `${message}${stack}${String(cause)}${JSON.stringify(rest)}`;
      expect(shown).not.toContain(SECRET);
      expect(shown).not.toContain(text);
      expect(shown).not.toContain(Buffer.from(keyOf(1)).toString("hex"));
      expect(cause).toBeUndefined();
    }
  }
});
