import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BASE58_ALPHABET } from "../lib/base58.js";
import { formatSecret, secretShape } from "./format.js";
import { secretStart } from "./shown-start.js";

const prefixCharacter = fc.constantFrom(..."abzABZ059_-");
const prefix = fc
  .string({ unit: prefixCharacter, maxLength: 16 })
  .filter((text) => !text.endsWith("_"));
const randomBytes = fc.uint8Array({ minLength: 16, maxLength: 64 });

test("every formatted secret is intact, and printable ASCII without a space", () => {
  fc.assert(
    fc.property(prefix, randomBytes, (word, bytes) => {
      const secret = formatSecret(word, bytes);
      expect(secretShape(secret)).toBe("intact");
      expect(secret).toMatch(/^[A-Za-z0-9_-]+$/);
    }),
    { numRuns: 500 },
  );
});

test("two secrets are the same only when prefix and random bytes are", () => {
  const few = fc.uint8Array({ minLength: 16, maxLength: 16, max: 1 });
  const word = fc.constantFrom("", "a", "a_a", "b");
  fc.assert(
    fc.property(word, few, word, few, (leftWord, left, rightWord, right) => {
      const isSame = leftWord === rightWord && Buffer.compare(left, right) === 0;
      expect(formatSecret(leftWord, left) === formatSecret(rightWord, right)).toBe(isSame);
    }),
  );
});

test("a secret with one character replaced is never intact", () => {
  const position = fc.nat();
  const character = fc.constantFrom(...BASE58_ALPHABET, "_", "-", "0", "l");
  fc.assert(
    fc.property(prefix, randomBytes, position, character, (word, bytes, at, replacement) => {
      const secret = formatSecret(word, bytes);
      const index = at % secret.length;
      fc.pre(secret[index] !== replacement);
      expect(secretShape(secret.slice(0, index) + replacement + secret.slice(index + 1))).not.toBe(
        "intact",
      );
    }),
    { numRuns: 1_000 },
  );
});

test("strings of any kind are classified without an error", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 600 }), (text) => {
      expect(["malformed", "damaged", "intact", "foreign"]).toContain(secretShape(text));
    }),
  );
});

test("secrets that differ only after the start have the same start, which is always a part of its secret", () => {
  fc.assert(
    fc.property(prefix, randomBytes, (word, bytes) => {
      const secret = formatSecret(word, bytes);
      const start = secretStart(secret);
      expect(secret.startsWith(start)).toBe(true);
      expect(secret.length - start.length).toBeGreaterThanOrEqual(24);
    }),
  );
});

describe("a reader of a start", () => {
  const CHECKSUM_BITS = 32n;
  const everyByteLength = Array.from({ length: 240 }, (_, index) => index + 16);

  /** Base58 digits of a number, most significant first. */
  function digitsOf(value: bigint): number[] {
    const digits: number[] = [];
    for (let rest = value; rest > 0n; rest /= 58n) digits.unshift(Number(rest % 58n));
    return digits;
  }

  /**
   * All bodies of one length are the numbers from `lowest` to `highest`. Characters that `lowest` and `highest`
   * share are the same in every secret and carry nothing.
   */
  function bodiesOf(byteLength: number) {
    const spread = 1n << BigInt(8 * (byteLength + 4));
    const lowest = (512n + BigInt(byteLength)) * spread;
    const highest = lowest + spread - 1n;
    const [from, to] = [digitsOf(lowest), digitsOf(highest)];
    const firstDifferent = from.findIndex((digit, index) => digit !== to[index]);
    const shownCharacters = secretStart(
      formatSecret("", new Uint8Array(byteLength).fill(90)),
    ).length;
    return { lowest, highest, length: to.length, firstDifferent, shownCharacters };
  }

  test("lacks at least 112 bits of the secret, whichever start and however many random bytes it is", () => {
    for (const byteLength of everyByteLength) {
      const { lowest, highest, length, shownCharacters } = bodiesOf(byteLength);
      // One start stands for a block of consecutive numbers; the range cuts off its first and last block.
      const blockSize = 58n ** BigInt(length - shownCharacters);
      const firstBlock = blockSize - (lowest % blockSize);
      const lastBlock = (highest % blockSize) + 1n;
      // One of each 2^32 consecutive numbers has the right checksum.
      for (const block of [blockSize, firstBlock, lastBlock]) {
        expect((block >> CHECKSUM_BITS) - 1n >= 1n << 112n).toBe(true);
      }
    }
  });

  test("of a secret with 16 random bytes sees two characters that carry randomness, four from 17 bytes on", () => {
    for (const byteLength of everyByteLength) {
      const { firstDifferent, shownCharacters } = bodiesOf(byteLength);
      expect(shownCharacters - firstDifferent).toBe(byteLength === 16 ? 2 : 4);
    }
  });
});

test("of base58 strings of any one length fewer than one in 500 claim latchkey's format", () => {
  const claims = new Map<number, number>();
  for (let byteLength = 16; byteLength <= 255; byteLength += 1) {
    const { length } = formatSecret("", new Uint8Array(byteLength));
    const share = 2 ** (8 * (byteLength + 4) - length * Math.log2(58));
    claims.set(length, (claims.get(length) ?? 0) + share);
  }
  expect(Math.max(...claims.values())).toBeLessThan(1 / 500);
  expect(1 / (claims.get(29) ?? 0)).toBeCloseTo(943, 0);
  expect([22, 27, 28, 30, 34, 37].map((length) => claims.has(length))).not.toContain(true);
});
