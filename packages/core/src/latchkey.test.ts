import { expect, test } from "vitest";
import { createLatchkey, type LatchkeyOptions } from "./latchkey.js";
import type { KeyStore } from "./store.js";

/** Nothing is asked of it: the options are looked at before. */
const store = { charge: async () => ({ kind: "stale" }) } as unknown as KeyStore;
const key = Uint8Array.from({ length: 32 }, (_, index) => index);

test.each<[string, object, string]>([
  ["no store", {}, '"store" must be a KeyStore'],
  ["a misspelt option", { store, peper: {} }, '"peper" is not an option'],
  ["a workspace id with a space", { store, workspaceId: "a b" }, '"workspaceId" must be 1 to 64'],
  [
    "a cache of half a key",
    { store, maxCachedKeys: 0.5 },
    '"maxCachedKeys" must be a whole number >= 0',
  ],
  [
    "a cache below nothing",
    { store, maxCachedKeys: -1 },
    '"maxCachedKeys" must be a whole number >= 0',
  ],
  [
    "a short vault key",
    { store, vault: { current: "a", keys: { a: key.slice(1) } } },
    '"vault.keys.a" must be 32 bytes',
  ],
  [
    "a vault without its current key",
    { store, vault: { current: "b", keys: { a: key } } },
    '"vault.current"',
  ],
  [
    "a short pepper",
    { store, pepper: { current: "a", keys: { a: key.slice(1) } } },
    '"pepper.keys.a" must be 32 to 64 bytes',
  ],
])("%s is refused, with the option and its bound", (_, options, message) => {
  expect(() => createLatchkey(options as LatchkeyOptions)).toThrow(TypeError);
  expect(() => createLatchkey(options as LatchkeyOptions)).toThrow(message);
});

test("another workspace of the same latchkey must have an id too", () => {
  const latchkey = createLatchkey({ store });
  expect(latchkey.workspaceId).toBe("ws_default");
  expect(latchkey.workspace("ws_other").workspaceId).toBe("ws_other");
  expect(() => latchkey.workspace("")).toThrow('"workspaceId" must be 1 to 64');
});
