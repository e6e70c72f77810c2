import { createHash, randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { BASE58_ALPHABET } from "./base58.js";
import { createIdFactory, lowestIdAt, type RandomBytes } from "./id.js";

test("ids sort in the order they were made, even if the clock stands still or goes back", () => {
  const steps = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(fc.integer({ min: 1_000, max: 2 ** 45 }), steps, (start, moves) => {
      let now = start;
      const createId = createIdFactory(() => now, randomBytes);
      const ids = moves.map((move) => {
        now += move;
        return createId("key");
      });
      expect([...new Set(ids)].sort()).toEqual(ids);
    }),
  );
});

test("every character of the alphabet is as likely as any other in random parts", () => {
  const createId = createIdFactory(() => 5_000, hashedCounter());
  const counts = new Map<string, number>();
  for (let made = 0; made < 29_000; made += 1) {
    for (const character of createId("key").slice(-14)) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
  }
  // Taking bytes modulo 58 would favour some characters by a quarter.
  const expected = (29_000 * 14) / 58;
  expect([...counts.keys()].sort().join("")).toBe(BASE58_ALPHABET);
  for (const count of counts.values()) {
    expect(Math.abs(count - expected) / expected).toBeLessThan(0.06);
  }
});

/** A source of bytes that look random and are the same in every run. */
function hashedCounter(): RandomBytes {
  let counter = 0;
  return (size) => {
    const bytes = new Uint8Array(size);
    for (let offset = 0; offset < size; offset += 32) {
      const block = createHash("sha256").update(String(counter++)).digest();
      bytes.set(block.subarray(0, Math.min(32, size - offset)), offset);
    }
    return bytes;
  };
}

test("an id sorts below the lowest id of an instant exactly if it was made before", () => {
  const instant = fc.nat({ max: 8_000_000_000_000 });
  const near = fc.integer({ min: -1, max: 1 });
  fc.assert(
    fc.property(instant, fc.oneof(near, instant), (at, apart) => {
      const madeAt = Math.max(0, at + apart);
      const createId = createIdFactory(
        () => madeAt,
        (size) => new Uint8Array(size),
      );
      expect(createId("evt") < lowestIdAt("evt", at)).toBe(madeAt < at);
    }),
  );
});
