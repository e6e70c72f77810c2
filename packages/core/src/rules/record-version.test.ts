import fc from "fast-check";
import { expect, test } from "vitest";
import { drawVersion } from "./record-version.js";

const sixBytes = fc.uint8Array({ minLength: 6, maxLength: 6 });

test("a version is a whole number above 1, which new records have, and exact in every store", () => {
  for (const byte of [0, 1, 255]) {
    const version = drawVersion((size) => new Uint8Array(size).fill(byte), 0);
    expect(Number.isSafeInteger(version)).toBe(true);
    expect(version).toBeGreaterThan(1);
    expect(String(version)).toMatch(/^\d{1,16}$/);
  }
});

test("every random byte changes the version", () => {
  const drawn = (bytes: Uint8Array) => drawVersion(() => bytes, 0);
  fc.assert(
    fc.property(sixBytes, sixBytes, (one, other) => {
      expect(drawn(one) === drawn(other)).toBe(one.join() === other.join());
    }),
  );
});

test("no version follows itself, whatever the source of randomness returns", () => {
  fc.assert(
    fc.property(fc.oneof(sixBytes, fc.constant(new Uint8Array(6))), (bytes) => {
      const version = drawVersion(() => bytes, 0);
      const next = drawVersion(() => bytes, version);
      expect(next).not.toBe(version);
      expect(next).toBeGreaterThan(1);
    }),
  );
});
