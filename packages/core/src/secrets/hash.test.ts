import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createSecretHasher, nativeSha256, portableSha256, sha256Text } from "./hash.js";
import type { KeyRing } from "./key-ring.js";

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
