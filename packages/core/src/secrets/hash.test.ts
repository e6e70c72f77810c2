import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { formatSecret } from "./format.js";
import {
  createSecretHasher,
  importedHash,
  nativeSha256,
  portableSha256,
  sha256Text,
} from "./hash.js";
import type { KeyRing } from "./key-ring.js";
import { canShowStart, importedStart, secretStart } from "./shown-start.js";

const keyOf = (length: number, first = 0) =>
  Uint8Array.from({ length }, (_, index) => (first + index) % 256);
const hmacOf = (key: Uint8Array, text: string) =>
  createHmac("sha256", key).update(text).digest("base64url");

const spring = keyOf(32, 1);
const autumn = keyOf(64, 100);
const pepper: KeyRing = { current: "autumn", keys: { spring, autumn } };

// The test vectors of FIPS 180-4: "abc", and the empty message.
const vectors = [
  { text: "abc", hex: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
  { text: "", hex: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
];

describe("without a pepper", () => {
  test.each(vectors)(
    "the hash of $text is the published SHA-256, in base64url",
    ({ text, hex }) => {
      const expected = Buffer.from(hex, "hex").toString("base64url");
      expect(portableSha256(text)).toBe(expected);
      expect(createSecretHasher(null).hash(text)).toBe(expected);
    },
  );

  test("this host hashes natively", () => {
    expect(nativeSha256).not.toBeNull();
    expect(sha256Text).toBe(nativeSha256);
  });

  test("a secret is looked up by its hash alone", () => {
    const hasher = createSecretHasher(null);
    expect(hasher.candidates("pay_abc")).toEqual([hasher.hash("pay_abc")]);
  });
});

describe("with a pepper", () => {
  const hasher = createSecretHasher(pepper);

  test("the hash is HMAC-SHA-256 under the current pepper, and names that pepper", () => {
    expect(hasher.hash("pay_abc")).toBe(`autumn.${hmacOf(autumn, "pay_abc")}`);
  });

  test("a secret is looked up under the current pepper, then under the earlier ones, then without", () => {
    expect(hasher.candidates("pay_abc")).toEqual([
      `autumn.${hmacOf(autumn, "pay_abc")}`,
      `spring.${hmacOf(spring, "pay_abc")}`,
      portableSha256("pay_abc"),
    ]);
  });

  test("a key that was stored before there was a pepper is still found", () => {
    const stored = createSecretHasher(null).hash("pay_abc");
    expect(hasher.candidates("pay_abc")).toContain(stored);
  });

  test("a key that was stored under a pepper is still found after the ring was rotated", () => {
    const stored = createSecretHasher({ current: "spring", keys: { spring } }).hash("pay_abc");
    expect(hasher.candidates("pay_abc")).toContain(stored);
  });

  test("a key that was stored under a pepper is lost with that pepper", () => {
    const stored = createSecretHasher({ current: "spring", keys: { spring } }).hash("pay_abc");
    const withoutSpring = createSecretHasher({ current: "autumn", keys: { autumn } });
    expect(withoutSpring.candidates("pay_abc")).not.toContain(stored);
    expect(createSecretHasher(null).candidates("pay_abc")).not.toContain(stored);
  });

  test("the same pepper under another name gives another hash", () => {
    const renamed = createSecretHasher({ current: "winter", keys: { winter: autumn } });
    expect(renamed.hash("pay_abc")).not.toBe(hasher.hash("pay_abc"));
  });

  test.each([
    { length: 31, isAccepted: false },
    { length: 32, isAccepted: true },
    { length: 64, isAccepted: true },
    { length: 65, isAccepted: false },
  ])("a pepper of $length bytes is accepted: $isAccepted", ({ length, isAccepted }) => {
    const create = () => createSecretHasher({ current: "a", keys: { a: keyOf(length) } });
    if (isAccepted) expect(create).not.toThrow();
    else expect(create).toThrow(new TypeError('"pepper.keys.a" must be 32 to 64 bytes'));
  });

  test("a later change to the given bytes changes no hash", () => {
    const key = keyOf(32, 9);
    const ours = createSecretHasher({ current: "a", keys: { a: key } });
    const before = ours.hash("pay_abc");
    key.fill(0);
    expect(ours.hash("pay_abc")).toBe(before);
  });
});

describe("import marks", () => {
  test("without a pepper there are none: plaintext and plain hash have one hash anyway", () => {
    expect(createSecretHasher(null).importMarks(portableSha256("abc"))).toEqual([]);
  });

  test("with a pepper there is one for each of its keys, the current one first, and none is the hash itself", () => {
    const hasher = createSecretHasher(pepper);
    const plain = hasher.plainHash("abc");
    expect(hasher.importMarks(plain)).toEqual([
      `autumn.${hmacOf(autumn, `import ${plain}`)}`,
      `spring.${hmacOf(spring, `import ${plain}`)}`,
    ]);
    expect(hasher.importMarks(plain)).not.toContain(hasher.hash("abc"));
  });
});

/** SHA-256 of "abc", FIPS 180-4. */
const HEX = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const BASE64 = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
const BASE64URL = "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0";

describe("an imported hash", () => {
  test("means the same in each form, and is what latchkey would have stored without a pepper", () => {
    expect(importedHash(HEX, "sha256_hex")).toBe(portableSha256("abc"));
    expect(importedHash(HEX.toUpperCase(), "sha256_hex")).toBe(portableSha256("abc"));
    expect(importedHash(BASE64, "sha256_base64")).toBe(portableSha256("abc"));
    expect(importedHash(BASE64URL, "sha256_base64url")).toBe(portableSha256("abc"));
  });

  test.each([
    ["a digit short", HEX.slice(1)],
    ["a digit long", `${HEX}0`],
    ["empty", ""],
    ["with a letter that is no digit", `g${HEX.slice(1)}`],
    ["with a space", ` ${HEX.slice(1)}`],
    ["with a line end", `${HEX}\n`],
    ["in the other form", BASE64],
  ])("of the variant sha256_hex is refused: %s", (_, value) => {
    expect(importedHash(value, "sha256_hex")).toBeNull();
  });

  test.each([
    ["without padding", BASE64.slice(0, -1)],
    ["with another padding", `${BASE64}=`],
    ["of 31 bytes", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFQ=="],
    ["of 33 bytes", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa2t"],
    ["empty", ""],
    ["with more before it", `AAAA${BASE64}`],
    ["with more behind it", `${BASE64}AAAA`],
    ["in base64url", BASE64.replaceAll("+", "-").replaceAll("/", "_")],
    ["with stray bits at its end", BASE64.replace("0=", "1=")],
    ["with a line end", `${BASE64}\n`],
    ["with a line end within", `${BASE64.slice(0, 20)}\n${BASE64.slice(20)}`],
    ["in the other form", HEX],
  ])("of the variant sha256_base64 is refused: %s", (_, value) => {
    expect(importedHash(value, "sha256_base64")).toBeNull();
  });

  test.each([
    ["with padding", `${BASE64URL}=`],
    ["of 31 bytes", "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFQ"],
    ["of 33 bytes", "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa2t"],
    ["with more before it", `AAAA${BASE64URL}`],
    ["with more behind it", `${BASE64URL}AAAA`],
    ["empty", ""],
    ["in base64", BASE64.slice(0, -1)],
    ["with stray bits at its end", BASE64URL.replace(/0$/, "1")],
    ["with a line end", `${BASE64URL}\n`],
  ])("of the variant sha256_base64url is refused: %s", (_, value) => {
    expect(importedHash(value, "sha256_base64url")).toBeNull();
  });
});

describe("the beginning of an imported secret", () => {
  test("of latchkey's own format is its usual start", () => {
    const secret = formatSecret(
      "pay",
      Uint8Array.from({ length: 24 }, (_, at) => at),
    );
    expect(importedStart(secret)).toBe(secretStart(secret));
  });

  const hex = "0123456789abcdef0123456789abcdef";

  test.each([
    ["four characters of 32 hexadecimal digits", hex, "0123"],
    ["one of 29", hex.slice(0, 29), "0"],
    ["none of 28", hex.slice(0, 28), ""],
    ["none of 27", hex.slice(0, 27), ""],
    ["the prefix and four characters", `sk_live_${hex}`, "sk_live_0123"],
    ["the prefix alone where no more can be spared", `sk_live_${hex.slice(0, 28)}`, "sk_live_"],
    [
      "nothing if the rest is short: an apparent prefix may be part of the secret",
      `sk_live_${hex.slice(0, 27)}`,
      "",
    ],
    ["four of 24 mixed letters", "AbCdEfGhIjKlMnOpQrStUvWx", "AbCd"],
    ["four of 28 lower-case letters", "abcdefghijklmnopqrstuvwxyzab", "abcd"],
    ["three of 27 upper-case letters", "ABCDEFGHIJKLMNOPQRSTUVWXYZA", "ABC"],
    ["four of 40 decimal digits", "1234567890".repeat(4), "1234"],
    ["nothing of 33 decimal digits", "1234567890".repeat(4).slice(0, 33), ""],
    [
      "four characters before a _ too far behind to end a prefix",
      `${"aB3".repeat(8)}_${"aB3".repeat(8)}`,
      "aB3a",
    ],
    ["nothing of a short one", "hunter2", ""],
  ])("is %s", (_, secret, start) => {
    expect(importedStart(secret)).toBe(start);
  });

  test.each([
    ["sk_live_", true],
    ["sk_", true],
    ["", true],
    ["sk_live_0123", true],
    ["sk_live_01234", false],
    ["sk_live", true],
    ["sk_live_x", false],
    [`sk_live_${hex}`, false],
    [`sk_live_${hex}x`, false],
  ])("may be given as %j: %j", (start, isAllowed) => {
    expect(canShowStart(`sk_live_${hex}`, start)).toBe(isAllowed);
  });

  test("that is given may be at most the prefix of a short secret", () => {
    expect(canShowStart("sk_hunter2", "sk_")).toBe(true);
    expect(canShowStart("sk_hunter2", "sk_h")).toBe(false);
    expect(canShowStart("sk_", "sk_")).toBe(false);
    expect(canShowStart("hunter2hunter2hunter2_x", "hunter2hunter2hunter2_")).toBe(false);
  });
});
