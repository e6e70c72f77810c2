import { describe, expect, test } from "vitest";
import type { LatchkeyError } from "../../errors.js";
import { parseInput } from "../../lib/parse-input.js";
import { formatSecret } from "../../secrets/format.js";
import { portableSha256 } from "../../secrets/hash.js";
import { importedKey, startOf } from "./import-input.js";

/** SHA-256 of "abc", FIPS 180-4. */
const hash = {
  value: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  variant: "sha256_hex",
};
const foreign = "sk_live_0123456789abcdef0123456789abcdef";
const parse = (fields: object) => parseInput(importedKey, { apiId: "api_1", ...fields });

function issuesOf(fields: object): [string, string][] {
  try {
    parse(fields);
    return [];
  } catch (error) {
    return (error as LatchkeyError).issues.map(({ path, message }) => [path, message]);
  }
}

describe("an imported key", () => {
  test("has the hash of its secret or the secret itself, but not both", () => {
    expect(parse({ hash }).hash).toBe(portableSha256("abc"));
    expect(parse({ plaintext: foreign }).plaintext).toBe(foreign);
    expect(issuesOf({})).toEqual([
      [
        "hash",
        "is required if plaintext is not given: createKeys takes keys that exist, createKey makes new ones",
      ],
    ]);
    expect(issuesOf({ hash, plaintext: foreign })).toEqual([
      ["plaintext", "must not be given with hash"],
    ]);
  });

  test("may have been used up, unlike a new one", () => {
    expect(parse({ hash, remaining: 0 }).remaining).toBe(0);
    expect(issuesOf({ hash, remaining: -1 })).toEqual([
      ["remaining", "must be a whole number >= 0"],
    ]);
  });

  test("follows the rules for the settings of every key", () => {
    expect(issuesOf({ hash, usesFrom: "identity", remaining: 0 }).map(([path]) => path)).toEqual([
      "usesFrom",
      "remaining",
    ]);
  });

  test("is recoverable only if its secret is given", () => {
    expect(issuesOf({ hash, recoverable: true })).toEqual([["recoverable", "needs plaintext"]]);
    expect(issuesOf({ plaintext: foreign, recoverable: true })).toEqual([]);
  });

  test("whose secret could never verify is refused", () => {
    const own = formatSecret("pay", new Uint8Array(16).fill(7));
    expect(issuesOf({ plaintext: own })).toEqual([]);
    const damaged = `${own.slice(0, -1)}${own.endsWith("2") ? "3" : "2"}`;
    expect(issuesOf({ plaintext: damaged })).toEqual([
      [
        "plaintext",
        "looks like a secret of latchkey, but its checksum is wrong: it would never verify",
      ],
    ]);
    for (const plaintext of ["", "x".repeat(513), "caf\u00e9", "a\n", "a\u007f"])
      expect(issuesOf({ plaintext })).toEqual([
        ["plaintext", "must be a string of 1 to 512 printable ASCII characters"],
      ]);
    expect(issuesOf({ plaintext: "x".repeat(512) })).toEqual([]);
  });

  test("reports every issue at once, even if a single field has the wrong type", () => {
    const issues = issuesOf({ hash: 7, plaintext: 7, start: 7, recoverable: "yes", extra: 1 });
    expect(issues.map(([path]) => path)).toEqual([
      "recoverable",
      "hash",
      "plaintext",
      "start",
      "extra",
      "plaintext",
    ]);
  });
});

describe("what is shown of it", () => {
  test.each<[object, string]>([
    [{ hash }, ""],
    [{ hash, prefix: "sk_live" }, "sk_live_"],
    [{ hash, prefix: "" }, ""],
    [{ hash, start: "abx", prefix: "sk" }, "abx"],
    [{ plaintext: foreign }, "sk_live_0123"],
    [{ plaintext: foreign, start: "" }, ""],
    [{ plaintext: foreign, start: "sk_" }, "sk_"],
    [{ plaintext: "hunter2" }, ""],
  ])("of %j is %j", (fields, start) => {
    expect(startOf(parse(fields))).toBe(start);
  });

  test("is never the secret itself", () => {
    expect(issuesOf({ hash, start: "abc" })).toEqual([["start", "must not be the secret itself"]]);
    expect(issuesOf({ plaintext: "abc", start: "abc" }).map(([path]) => path)).toEqual(["start"]);
  });

  test("has at most 32 characters", () => {
    expect(issuesOf({ hash, start: "s".repeat(32) })).toEqual([]);
    expect(issuesOf({ hash, start: "s".repeat(33) })).toEqual([
      ["start", "must be a string of 0 to 32 characters"],
    ]);
  });
});
