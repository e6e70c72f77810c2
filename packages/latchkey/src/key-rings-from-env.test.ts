import { randomBytes } from "node:crypto";
import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { keyRingsFromEnv } from "./key-rings-from-env.js";

const first = randomBytes(32);
const second = randomBytes(32);

describe("key rings from the environment", () => {
  test("variables that are not set give no rings", () => {
    expect(keyRingsFromEnv({})).toEqual({});
  });

  test("a single key without an id gets the id 1", () => {
    expect(keyRingsFromEnv({ LATCHKEY_VAULT_KEY: first.toString("base64") })).toEqual({
      vault: { current: "1", keys: { "1": Uint8Array.from(first) } },
    });
  });

  test("the first key of a list with ids is the current one", () => {
    const text = ` 2031:${second.toString("base64")}, 2030:${first.toString("base64")} `;
    expect(keyRingsFromEnv({ LATCHKEY_PEPPER: text })).toEqual({
      pepper: {
        current: "2031",
        keys: { "2030": Uint8Array.from(first), "2031": Uint8Array.from(second) },
      },
    });
  });

  test("the token issuer belongs to the token keys, and is checked even without them", () => {
    const LATCHKEY_TOKEN_ISSUER = "https://keys.example";
    const LATCHKEY_TOKEN_KEY = first.toString("base64");
    expect(keyRingsFromEnv({ LATCHKEY_TOKEN_KEY, LATCHKEY_TOKEN_ISSUER }).tokens).toEqual({
      current: "1",
      keys: { "1": Uint8Array.from(first) },
      issuer: "https://keys.example",
    });
    expect(keyRingsFromEnv({ LATCHKEY_TOKEN_ISSUER })).toEqual({});
    for (const wrong of ["", "x".repeat(257)])
      expect(() => keyRingsFromEnv({ LATCHKEY_TOKEN_ISSUER: wrong })).toThrow(
        "LATCHKEY_TOKEN_ISSUER",
      );
  });

  test("base64 may use either alphabet, with or without padding", () => {
    const bytes = Buffer.alloc(32, "\xfb\xef\xbe\xff", "latin1");
    const forms = [
      bytes.toString("base64"),
      bytes.toString("base64").replace("=", ""),
      bytes.toString("base64url"),
    ];
    for (const form of forms) {
      expect(keyRingsFromEnv({ LATCHKEY_VAULT_KEY: form }).vault?.keys["1"]).toEqual(
        Uint8Array.from(bytes),
      );
    }
  });

  test.each([
    ["LATCHKEY_VAULT_KEY", 31, false],
    ["LATCHKEY_VAULT_KEY", 32, true],
    ["LATCHKEY_VAULT_KEY", 33, false],
    ["LATCHKEY_PEPPER", 31, false],
    ["LATCHKEY_PEPPER", 32, true],
    ["LATCHKEY_PEPPER", 64, true],
    ["LATCHKEY_PEPPER", 65, false],
  ])("%s of %i bytes is accepted: %s", (variable, length, isAccepted) => {
    const env = { [variable]: randomBytes(length).toString("base64") };
    if (isAccepted) expect(Object.keys(keyRingsFromEnv(env))).toHaveLength(1);
    else expect(() => keyRingsFromEnv(env)).toThrow(TypeError);
  });

  const one = first.toString("base64");
  const other = second.toString("base64");
  test.each([
    ["", "LATCHKEY_VAULT_KEY is empty: unset it, or set it to 32 bytes in base64"],
    ["  ", "LATCHKEY_VAULT_KEY is empty: unset it, or set it to 32 bytes in base64"],
    ["no base64!", "LATCHKEY_VAULT_KEY must hold 32 bytes in base64"],
    [`${one.slice(0, -1)} =`, "LATCHKEY_VAULT_KEY must hold 32 bytes in base64"],
    [`a:${one},${other}`, "LATCHKEY_VAULT_KEY must give an id (id:base64) in entry 2"],
    [`a:${one},a:${other}`, "LATCHKEY_VAULT_KEY must not give one id twice in entry 2"],
    [`a:${one},b:${other.slice(4)}`, "LATCHKEY_VAULT_KEY must hold 32 bytes in base64 in entry 2"],
    [`a:${one},`, "LATCHKEY_VAULT_KEY must give an id (id:base64) in entry 2"],
    [`:${one}`, "LATCHKEY_VAULT_KEY must have ids of 1 to 32 characters of A-Z a-z 0-9 _ -"],
    [
      Buffer.alloc(32, 7).toString("base64"),
      "LATCHKEY_VAULT_KEY must be random, not one repeated byte",
    ],
  ])("%j is refused with the reason", (text, message) => {
    expect(() => keyRingsFromEnv({ LATCHKEY_VAULT_KEY: text })).toThrow(new TypeError(message));
  });

  test("no part of a value is ever in the error", () => {
    for (const text of [`${one}x`, `a:${one},${other}`, `${one}:${other}`, `a b:${one}`]) {
      let message = "";
      try {
        keyRingsFromEnv({ LATCHKEY_PEPPER: text });
      } catch (error) {
        message = String(error);
      }
      expect(message).toContain("LATCHKEY_PEPPER");
      expect(message).not.toContain(one.slice(0, 8));
      expect(message).not.toContain(other.slice(0, 8));
    }
  });

  test("createLatchkey accepts the rings", () => {
    const rings = keyRingsFromEnv({ LATCHKEY_VAULT_KEY: one, LATCHKEY_PEPPER: `p1:${other}` });
    expect(() => createLatchkey({ store: memoryStore(), ...rings })).not.toThrow();
  });
});
