import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { BASE58_ALPHABET, encodeBase58 } from "../lib/base58.js";
import {
  BYTE_LENGTH,
  formatSecret,
  MAX_SECRET_LENGTH,
  PREFIX_PATTERN,
  secretShape,
} from "./format.js";
import { secretStart } from "./shown-start.js";

/** Bytes that look random and are the same in every run. */
function bytesOf(length: number, seed = 0): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => {
    return createHash("sha256").update(`${seed}:${index}`).digest()[0] as number;
  });
}

const everyByteLength = Array.from({ length: 240 }, (_, index) => index + BYTE_LENGTH.min);
const plain = formatSecret("", bytesOf(16));
const prefixed = formatSecret("pay_live", bytesOf(16));

describe("formatSecret", () => {
  test("a body is base58 of version 2, length, random bytes and 4 bytes of SHA-256 over prefix and all before", () => {
    const random = bytesOf(16);
    const payload = Uint8Array.of(2, 16, ...random);
    const checksum = createHash("sha256")
      .update("pay_live")
      .update(payload)
      .digest()
      .subarray(0, 4);
    expect(formatSecret("pay_live", random)).toBe(
      `pay_live_${encodeBase58(Uint8Array.of(...payload, ...checksum))}`,
    );
  });

  test("never changes for given bytes: every secret handed out stays what it is", () => {
    const counting = Uint8Array.from({ length: 16 }, (_, index) => index);
    expect(formatSecret("", counting)).toBe("ZU7pDBawfUYPTJ5H3QqWYZeTXpJjB");
    expect(formatSecret("pay_live", counting)).toBe("pay_live_ZU7pDBawfUYPTJ5H3QqWYZeVevb4V");
  });

  test("without a prefix a secret is only a body", () => {
    expect(plain).not.toContain("_");
  });

  test("the same bytes under another prefix are another body", () => {
    expect(prefixed.split("_").at(-1)).not.toBe(plain);
  });

  test("the longest secret, with the longest prefix, is short enough to be presented", () => {
    expect(formatSecret("a".repeat(16), new Uint8Array(255).fill(255)).length).toBeLessThan(
      MAX_SECRET_LENGTH,
    );
  });
});

describe("PREFIX_PATTERN", () => {
  test.each(["a", "Z", "0", "-", "pay_live", "_a", "a-", "a".repeat(15), "a".repeat(16)])(
    "accepts %s",
    (prefix) => {
      expect(prefix).toMatch(PREFIX_PATTERN);
    },
  );

  test.each(["", "_", "pay_", "a".repeat(17), "a b", "a.b", "ä", "pay\n", "a_________________"])(
    "refuses %j",
    (prefix) => {
      expect(prefix).not.toMatch(PREFIX_PATTERN);
    },
  );
});

describe("secretShape", () => {
  test("a secret of every length, with and without a prefix, is intact", () => {
    for (const byteLength of everyByteLength) {
      expect(secretShape(formatSecret("", bytesOf(byteLength)))).toBe("intact");
      expect(secretShape(formatSecret("my_app-2", bytesOf(byteLength)))).toBe("intact");
    }
  });

  test.each([0, 255])(
    "a secret whose random bytes are all %i is intact at every length",
    (byte) => {
      for (const byteLength of everyByteLength) {
        expect(secretShape(formatSecret("", new Uint8Array(byteLength).fill(byte)))).toBe("intact");
      }
    },
  );

  test("every other character at every place of a body makes it damaged or foreign, never intact", () => {
    for (const secret of [plain, prefixed]) {
      const bodyAt = secret.lastIndexOf("_") + 1;
      for (let at = bodyAt; at < secret.length; at += 1) {
        for (const character of BASE58_ALPHABET) {
          if (character === secret[at]) continue;
          const corrupted = secret.slice(0, at) + character + secret.slice(at + 1);
          expect(["damaged", "foreign"]).toContain(secretShape(corrupted));
        }
      }
    }
  });

  test("a wrong character in the random part is damaged: it is refused without asking a store", () => {
    const at = prefixed.length - 10;
    const character = prefixed[at] === "z" ? "y" : "z";
    expect(secretShape(prefixed.slice(0, at) + character + prefixed.slice(at + 1))).toBe("damaged");
  });

  test.each(["pay_live2", "pay_liv", "Pay_live", "pay", ""])(
    "a body moved under the prefix %j is damaged",
    (prefix) => {
      const body = prefixed.slice("pay_live_".length);
      expect(secretShape(prefix === "" ? body : `${prefix}_${body}`)).toBe("damaged");
    },
  );

  test("a body with two swapped neighbours is never intact", () => {
    for (let at = 0; at + 1 < plain.length; at += 1) {
      if (plain[at] === plain[at + 1]) continue;
      const swapped = plain.slice(0, at) + plain[at + 1] + plain[at] + plain.slice(at + 2);
      expect(secretShape(swapped)).not.toBe("intact");
    }
  });

  test("a body that lost or gained characters at its end is never intact", () => {
    for (let length = 1; length < plain.length; length += 1) {
      expect(secretShape(plain.slice(0, length))).not.toBe("intact");
    }
    for (const character of BASE58_ALPHABET)
      expect(secretShape(plain + character)).not.toBe("intact");
  });

  test("a body with extra leading zeros is foreign: no two bodies mean the same bytes", () => {
    expect(secretShape(`1${plain}`)).toBe("foreign");
  });

  test.each([
    { label: "the version differs", bytes: Uint8Array.of(1, 16, ...bytesOf(20)) },
    { label: "the length byte is one too low", bytes: Uint8Array.of(2, 15, ...bytesOf(20)) },
    { label: "the length byte is one too high", bytes: Uint8Array.of(2, 17, ...bytesOf(20)) },
    { label: "there are fewer than 16 random bytes", bytes: Uint8Array.of(2, 15, ...bytesOf(19)) },
    { label: "there is nothing but a header", bytes: Uint8Array.of(2, 0) },
    { label: "there is one byte", bytes: Uint8Array.of(2) },
  ])("base58 is foreign when $label", ({ bytes }) => {
    expect(secretShape(encodeBase58(bytes))).toBe("foreign");
  });

  test("version and length that fit, with 16 bytes and a wrong checksum, claim latchkey's format: damaged", () => {
    expect(secretShape(encodeBase58(Uint8Array.of(2, 16, ...bytesOf(20))))).toBe("damaged");
  });

  test.each([
    "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "f47ac10b-58cc-4372-a567-0e02b2c3d479",
    "0123456789abcdef0123456789abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig",
    "!",
    "_",
    "pay_",
    "with space",
  ])("a key of another system is foreign, and may be looked up: %s", (secret) => {
    expect(secretShape(secret)).toBe("foreign");
  });

  test.each(["", "\0", "pay\n", "päy", "pay_🔑", "\u007f", "pay_\u00a0live", "\ud800"])(
    "a text that no header can carry is malformed: %j",
    (secret) => {
      expect(secretShape(secret)).toBe("malformed");
    },
  );

  test.each([
    { length: MAX_SECRET_LENGTH - 1, shape: "foreign" },
    { length: MAX_SECRET_LENGTH, shape: "foreign" },
    { length: MAX_SECRET_LENGTH + 1, shape: "malformed" },
  ])("a string of $length characters is $shape", ({ length, shape }) => {
    expect(secretShape("0".repeat(length))).toBe(shape);
  });

  test.each(["first", "last"])(
    "an intact secret with a line end as its %s character is malformed",
    (place) => {
      expect(secretShape(place === "first" ? `\n${plain}` : `${plain}\n`)).toBe("malformed");
    },
  );
});

describe("secretStart", () => {
  test("is the prefix, the separator and the leading characters of the body", () => {
    const start = secretStart(prefixed);
    expect(start.startsWith("pay_live_")).toBe(true);
    expect(prefixed.startsWith(start)).toBe(true);
    expect(start.length).toBeGreaterThan("pay_live_".length);
  });

  test("of a secret without a prefix has no separator", () => {
    expect(secretStart(plain)).toBe(plain.slice(0, 3));
  });
});
