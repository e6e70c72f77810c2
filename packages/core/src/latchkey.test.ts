import { expect, test } from "vitest";
import { createLatchkey, type LatchkeyOptions } from "./latchkey.js";
import type { KeyStore } from "./store/key-store.js";

/** Never called: the options are checked first. */
const store = { charge: async () => ({ kind: "stale" }) } as unknown as KeyStore;
const key = Uint8Array.from({ length: 32 }, (_, index) => index);

test.each<[string, object, string]>([
  ["no store", {}, '"store" must be a KeyStore'],
  [
    "a misspelt option",
    { storage: {} },
    '"storage" is not an option of createLatchkey: use "store"',
  ],
  ["an option in lower case", { store: {}, auditlog: false }, 'use "auditLog"'],
  ["a URL for a store", { store: "sqlite:./keys.db" }, "or openStore(url)"],
  ["a misspelt option", { store, peper: {} }, '"peper" is not an option'],
  ["a workspace id with a space", { store, workspaceId: "a b" }, '"workspaceId" must be 1 to 64'],
  [
    "a cache of half a key",
    { store, maxCachedKeys: 0.5 },
    '"maxCachedKeys" must be a whole number >= 0',
  ],
  [
    "a cache of negative size",
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
  ["an audit log that is neither on nor off", { store, auditLog: "no" }, '"auditLog" must be true'],
  ["a listener that cannot be called", { store, onEvent: {} }, '"onEvent" must be a function'],
  [
    "an error listener that cannot be called",
    { store, onError: {} },
    '"onError" must be a function',
  ],
  ["no options at all", undefined as never, "createLatchkey needs an object of options"],
  ["null", null as never, "createLatchkey needs an object of options"],
  ["a store in place of the options", store, "createLatchkey needs an object of options"],
  ["a clock that cannot be read", { store, clock: 5 }, '"clock" must be a function'],
  ["a random that cannot be called", { store, random: 5 }, '"random" must be a function'],
  ["a vault that is null", { store, vault: null }, '"vault" must be a key ring'],
  ["a pepper that is a text", { store, pepper: "x" }, '"pepper" must be a key ring'],
  ["leases that say nothing", { store, leases: {} }, '"leases.ms" must be a whole number'],
  ["leases that are null", { store, leases: null }, '"leases" must be { ms }'],
  ["leases that are a number", { store, leases: 500 }, '"leases" must be { ms }'],
  ["a misspelt setting of leases", { store, leases: { MS: 500 } }, '"leases.MS" is not an option'],
  ["a lease of 9 ms", { store, leases: { ms: 9 } }, "from 10 to 10000"],
  ["a lease of 10,001 ms", { store, leases: { ms: 10_001 } }, "from 10 to 10000"],
  ["a lease of 11 s", { store, leases: { ms: "11s" } }, "from 10 to 10000"],
  ["a share above 1", { store, leases: { ms: 10, share: 1.1 } }, '"leases.share" must be a number'],
  ["a share that is NaN", { store, leases: { ms: 10, share: Number.NaN } }, "from 0 to 1"],
  ["usage that is neither off nor set", { store, usage: true }, '"usage" must be false or'],
  ["usage that is null", { store, usage: null }, '"usage" must be false or'],
  ["a misspelt setting of usage", { store, usage: { flush: 1 } }, '"usage.flush" is not an option'],
  [
    "a flush at once",
    { store, usage: { flushMs: 0 } },
    '"usage.flushMs" must be a whole number from 1 to 3600000',
  ],
  [
    "a flush that waits too long",
    { store, usage: { flushMs: 3_600_001 } },
    '"usage.flushMs" must be a whole number from 1 to 3600000',
  ],
  [
    "a flush after two hours",
    { store, usage: { flushMs: "2h" } },
    '"usage.flushMs" must be a whole number',
  ],
  [
    "durable counts on a store that does not count in the step of a charge",
    { store: { ...store, countsInStep: undefined }, usage: { durable: true } },
    '"usage.durable" needs a store that counts in the same step as a charge',
  ],
  ["half a ms", { store, usage: { flushMs: 1.5 } }, '"usage.flushMs" must be a whole number'],
])("%s is refused, with the option and its bound", (_, options, message) => {
  expect(() => createLatchkey(options as LatchkeyOptions)).toThrow(TypeError);
  expect(() => createLatchkey(options as LatchkeyOptions)).toThrow(message);
});

test.each([false, {}, { flushMs: 1 }, { flushMs: 3_600_000 }, { flushMs: "1h" }] as const)(
  "usage can be %o",
  (usage) => {
    expect(createLatchkey({ store, usage })).toHaveProperty("verifyKey");
  },
);

test.each([
  { length: 0, isTaken: false },
  { length: 1, isTaken: true },
  { length: 256, isTaken: true },
  { length: 257, isTaken: false },
])("an actor of $length characters is taken: $isTaken", ({ length, isTaken }) => {
  const latchkey = createLatchkey({ store });
  const act = () => latchkey.actingAs("a".repeat(length)).workspaceId;
  if (isTaken) expect(act()).toBe("ws_default");
  else expect(act).toThrow('"actor" must be a string of 1 to 256 characters');
});

test("another workspace of the same latchkey must have an id too", () => {
  const latchkey = createLatchkey({ store });
  expect(latchkey.workspaceId).toBe("ws_default");
  expect(latchkey.workspace("ws_other").workspaceId).toBe("ws_other");
  const support = latchkey.actingAs("support");
  latchkey.workspace("ws_other").actingAs("a support");
  for (const bound of [latchkey, support]) {
    bound.workspace("ws_other");
    const wrong = ["ws_other ", "ws_other a", "ws_other support", "ws_other a support"];
    for (const id of ["", ...wrong, undefined, ["ws_other"], { toString: () => "ws_other" }])
      expect(() => bound.workspace(id as string)).toThrow('"workspaceId" must be 1 to 64');
  }
});

test("a bound latchkey is cached for each workspace and actor", () => {
  const latchkey = createLatchkey({ store, workspaceId: "a" });
  const bound = [
    latchkey,
    latchkey.workspace("b"),
    latchkey.actingAs("b"),
    latchkey.actingAs(" "),
    latchkey.workspace("b").actingAs("b"),
    latchkey.workspace("b").actingAs("a"),
  ];
  expect(new Set(bound).size).toBe(bound.length);
  expect(latchkey.workspace("a")).toBe(latchkey);
  expect(latchkey.workspace("b")).toBe(bound[1]);
  expect(latchkey.actingAs("b")).toBe(bound[2]);
  expect(latchkey.actingAs("b").workspace("b")).toBe(bound[4]);
  // Of another store.
  expect(createLatchkey({ store, workspaceId: "a" }).workspace("b")).not.toBe(bound[1]);
});

test("of any number of workspaces, only those used last stay cached", () => {
  const latchkey = createLatchkey({ store });
  const first = latchkey.workspace("ws_first");
  for (let count = 0; count < 20_000; count += 1) {
    latchkey.workspace(`ws_${count}`);
  }
  expect(latchkey.workspace("ws_first")).not.toBe(first);
  expect(latchkey.workspace("ws_first").workspaceId).toBe("ws_first");
});

test.each([
  ["a promise of bytes", async (size: number) => new Uint8Array(size)],
  ["one byte", () => new Uint8Array(1)],
  ["a byte too many", (size: number) => new Uint8Array(size + 1)],
  ["a list of numbers", (size: number) => Array.from({ length: size }, () => 7)],
])("a random that answers %s issues nothing", async (_, random) => {
  const latchkey = createLatchkey({ store, random } as unknown as LatchkeyOptions);
  await expect(latchkey.createApi({ name: "payments" })).rejects.toThrow(
    '"random" must return a Uint8Array of the size that it is called with',
  );
});
