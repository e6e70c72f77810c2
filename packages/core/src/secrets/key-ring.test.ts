import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { copyKeyRing, isKeyRing, type KeyRing, refuseSharedSecrets } from "./key-ring.js";

const BOUNDS = { minBytes: 32, maxBytes: 64 };

/** Bytes that count up: as good as random ones for the checks of a ring, and the same in every run. */
const keyOf = (length: number) => Uint8Array.from({ length }, (_, index) => index);

const ringWith = (keys: Record<string, Uint8Array>, current = "a"): KeyRing => ({ current, keys });

describe("copyKeyRing", () => {
  test("returns every key by its id", () => {
    const copy = copyKeyRing("vault", ringWith({ a: keyOf(32), b: keyOf(64) }), BOUNDS);
    expect([...copy]).toEqual([
      ["a", keyOf(32)],
      ["b", keyOf(64)],
    ]);
  });

  test("a later change to the given object changes nothing", () => {
    const key = keyOf(32);
    const keys: Record<string, Uint8Array> = { a: key };
    const copy = copyKeyRing("vault", { current: "a", keys }, BOUNDS);
    key.fill(0);
    keys.b = keyOf(32);
    expect([...copy]).toEqual([["a", keyOf(32)]]);
  });

  test.each([31, 65, 0])("a key of %i bytes is refused when 32 to 64 are required", (length) => {
    expect(() => copyKeyRing("pepper", ringWith({ a: keyOf(length) }), BOUNDS)).toThrow(
      new TypeError('"pepper.keys.a" must be 32 to 64 bytes'),
    );
  });

  test.each([32, 33, 63, 64])(
    "a key of %i bytes is accepted when 32 to 64 are required",
    (length) => {
      expect(copyKeyRing("pepper", ringWith({ a: keyOf(length) }), BOUNDS).get("a")).toHaveLength(
        length,
      );
    },
  );

  test("an exact length is named as one number", () => {
    const exactly = { minBytes: 32, maxBytes: 32 };
    expect(() => copyKeyRing("vault", ringWith({ a: keyOf(33) }), exactly)).toThrow(
      '"vault.keys.a" must be 32 bytes',
    );
  });

  test.each([0, 1, 255])(
    "a key of one repeated byte (%i) is refused: it is a placeholder, not a key",
    (byte) => {
      const placeholder = new Uint8Array(32).fill(byte);
      expect(() => copyKeyRing("vault", ringWith({ a: placeholder }), BOUNDS)).toThrow(
        '"vault.keys.a" must be random, not one repeated byte',
      );
    },
  );

  test("a key that differs from a repeated byte only in its last byte is accepted", () => {
    const key = new Uint8Array(32).fill(7);
    key[31] = 8;
    expect(copyKeyRing("vault", ringWith({ a: key }), BOUNDS).size).toBe(1);
  });

  test("a key that is text is refused, not read as bytes", () => {
    const keys = { a: "0123456789abcdef0123456789abcdef" as unknown as Uint8Array };
    expect(() => copyKeyRing("vault", ringWith(keys), BOUNDS)).toThrow(TypeError);
  });

  test.each(["", "a b", "a.b", "ä", "a".repeat(33)])("an id such as %j is refused", (id) => {
    expect(() => copyKeyRing("vault", ringWith({ [id]: keyOf(32) }, id), BOUNDS)).toThrow(
      '"vault.keys" ids must be 1 to 32 characters of A-Z a-z 0-9 _ -',
    );
  });

  test.each(["a", "2026-01_B", "a".repeat(32)])("an id such as %j is accepted", (id) => {
    expect(copyKeyRing("vault", ringWith({ [id]: keyOf(32) }, id), BOUNDS).has(id)).toBe(true);
  });

  test.each(["b", "", "constructor", "toString"])(
    "a current id that is not in the ring is refused: %j",
    (current) => {
      expect(() => copyKeyRing("vault", ringWith({ a: keyOf(32) }, current), BOUNDS)).toThrow(
        new TypeError('"vault.current" must be the id of a key in "vault.keys"'),
      );
    },
  );

  test("an empty ring has no current key and is refused", () => {
    expect(() => copyKeyRing("vault", ringWith({}), BOUNDS)).toThrow(TypeError);
  });

  test("no message holds key material", () => {
    const key = new TextEncoder().encode(
      "this-is-very-secret-key-material-and-far-too-long-to-be-a-key-of-a-ring",
    );
    try {
      copyKeyRing("vault", ringWith({ a: key }), BOUNDS);
      expect.unreachable();
    } catch (error) {
      const message = String(error);
      expect(message).not.toContain("secret");
      expect(message).not.toContain("116,104,105,115");
    }
  });
});

describe("refuseSharedSecrets", () => {
  const keyFilled = (byte: number, length = 32) => new Uint8Array(length).fill(byte);
  const vault = ringWith({ a: keyFilled(1), b: keyFilled(2) });

  test("refuses a secret that is in both rings, whatever its id and whichever is current", () => {
    for (const shared of [1, 2]) {
      const pepper = ringWith({ x: keyFilled(9), y: keyFilled(shared) }, "x");
      expect(() => refuseSharedSecrets({ vault, pepper })).toThrow(
        new TypeError('"vault" and "pepper" must not contain the same secret'),
      );
    }
  });

  test("accepts rings that share an id, or the beginning of a secret", () => {
    const pepper = ringWith({ a: keyFilled(3), b: keyFilled(1, 33), c: keyFilled(2, 64) });
    expect(() => refuseSharedSecrets({ vault, pepper })).not.toThrow();
  });

  test("accepts one ring without the other", () => {
    expect(() => refuseSharedSecrets({ vault })).not.toThrow();
    expect(() => refuseSharedSecrets({ vault, pepper: undefined })).not.toThrow();
    expect(() => refuseSharedSecrets({ pepper: vault })).not.toThrow();
  });
});

test.each([
  [{ keys: {} }, true],
  [{ current: "a", keys: { a: keyOf(32) } }, true],
  [{ keys: null }, false],
  [{ keys: "a" }, false],
  [{}, false],
  [null, false],
  [undefined, false],
  ["keys", false],
  [Object.assign(() => {}, { keys: {} }), false],
])("%j has the form of a ring: %j", (ring, isRing) => {
  expect(isKeyRing(ring)).toBe(isRing);
});

test("the keys may be byte arrays of another realm, such as that of a test environment", () => {
  const foreign = runInNewContext("Uint8Array.from({ length: 32 }, (_, index) => index)");
  expect(foreign).not.toBeInstanceOf(Uint8Array);
  const sizes = { minBytes: 32, maxBytes: 32 };
  const copy = copyKeyRing("vault", { current: "a", keys: { a: foreign } }, sizes);
  expect(copy.get("a")).toEqual(Uint8Array.from({ length: 32 }, (_, index) => index));
});
