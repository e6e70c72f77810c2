import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Change, KeyStore } from "@latchkey/core";
import { failingOver } from "@latchkey/core/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { backup } from "./backup.js";
import { copy } from "./copy.js";
import { restore } from "./restore.js";
import { behindTheKeys } from "./testing/behind-the-keys.js";
import { latchkeyOn } from "./testing/fixture.js";
import { KINDS, type Kind, startStores, type TestStores } from "./testing/stores.js";

/** Whether a change puts a workspace into a state. */
function puts(state: "open" | "moved"): (change: Change) => boolean {
  return ({ puts }) =>
    puts.some(
      ({ record }) => record.id === "$state" && JSON.stringify(record.body).includes(`"${state}"`),
    );
}

/** Whether a change writes a record of a key. */
function putsKey({ puts }: Change): boolean {
  return puts.some(({ record }) => record.kind === "key");
}

let stores: TestStores;
beforeAll(async () => {
  stores = await startStores();
}, 120_000);
afterAll(() => stores.close());

/** Opens an empty store for the current test. */
function open(kind: Kind): KeyStore {
  const store = stores.open(kind);
  onTestFinished(() => store.close());
  return store;
}

/** A store with keys. */
async function aSource(store: KeyStore) {
  const latchkey = latchkeyOn(store);
  const { apiId } = await latchkey.createApi({ name: "tiles" });
  const keys = [];
  for (let number = 0; number < 20; number += 1) keys.push(await latchkey.createKey({ apiId }));
  return { latchkey, keys };
}

/** The verdicts of a store on keys, without their repetitions; or why it does not answer. */
async function verdictsOn(store: KeyStore, keys: readonly { readonly key: string }[]) {
  const latchkey = latchkeyOn(store);
  const codes = keys.map(({ key }) =>
    latchkey.verifyKey({ key }).then(
      ({ code }) => code,
      ({ reason }: { readonly reason?: string }) => reason,
    ),
  );
  return [...new Set(await Promise.all(codes))];
}

const LOST = { code: "CONFLICT", message: expect.stringContaining("failover") };

describe.each(KINDS)("%s fails over, without its last changes and unnoticed,", (kind) => {
  test.each(["copy", "restore"] as const)(
    "after a %s has compared the target: it is not opened without them, and the next call completes it",
    async (way) => {
      const source = open("memory");
      const { keys } = await aSource(source);
      const { store } = failingOver(open(kind), open(kind), {
        isLost: putsKey,
        isPromoting: puts("open"),
      });
      const folder = mkdtempSync(join(tmpdir(), "latchkey-failover-"));
      const path = join(folder, "keys.lkb");
      await backup(source, path);
      const fill = () => (way === "copy" ? copy(source, store) : restore(store, path));
      await expect(fill()).rejects.toMatchObject(LOST);
      expect(await verdictsOn(store, keys)).toEqual(["incomplete"]);
      await fill();
      expect(await verdictsOn(store, keys)).toEqual(["VALID"]);
      await rm(folder, { recursive: true });
    },
  );

  test("before a live copy opens it: no key works there that was disabled on the source", async () => {
    const source = open("memory");
    const { latchkey, keys } = await aSource(source);
    const [first, ...others] = keys;
    if (first === undefined) return expect.unreachable();
    let isDisabled = false;
    const { store } = failingOver(open(kind), open(kind), {
      isLost: (change) => isDisabled && putsKey(change),
      isPromoting: puts("open"),
    });
    const from = behindTheKeys(source, async () => {
      await latchkey.updateKey({ keyId: first.keyId, enabled: false });
      isDisabled = true;
    });
    await expect(copy(from, store, { live: true })).rejects.toMatchObject(LOST);
    expect(await verdictsOn(store, keys)).toEqual(["incomplete"]);
    await copy(source, store, { live: true });
    expect(await verdictsOn(store, others)).toEqual(["VALID"]);
    expect(await verdictsOn(store, [first])).toEqual(["DISABLED"]);
  });

  test("behind the fence of a live copy from it: only one side serves", async () => {
    const target = open("memory");
    const { store, failOver } = failingOver(open(kind), open(kind), {
      isLost: puts("moved"),
    });
    const { keys } = await aSource(store);
    const to: KeyStore = {
      ...target,
      page: (...given) => {
        failOver();
        return target.page(...given);
      },
      read: (...given) => {
        failOver();
        return target.read(...given);
      },
    };
    await expect(copy(store, to, { live: true })).rejects.toMatchObject(LOST);
    expect(await verdictsOn(target, keys)).toEqual(["incomplete"]);
    expect(await verdictsOn(store, keys)).toEqual(["VALID"]);
    await copy(store, target, { live: true });
    expect(await verdictsOn(target, keys)).toEqual(["VALID"]);
    expect(await verdictsOn(store, keys)).toEqual(["moved"]);
  });

  test("while a live copy from it follows: no use is admitted by both sides", async () => {
    const target = open("memory");
    let isCut = false;
    const { store, failOver } = failingOver(open(kind), open(kind), { isLost: () => isCut });
    const latchkey = latchkeyOn(store);
    const { apiId } = await latchkey.createApi({ name: "tiles" });
    const { key } = await latchkey.createKey({ apiId, remaining: 10 });
    const use = () => latchkey.verifyKey({ key });
    const from = behindTheKeys(store, async () => {
      isCut = true;
      expect(await use()).toMatchObject({ valid: true });
      failOver();
      for (const remaining of [9, 8, 7]) expect(await use()).toMatchObject({ remaining });
    });
    await copy(from, target, { live: true });
    expect(await latchkeyOn(target).verifyKey({ key })).toMatchObject({ remaining: 6 });
  });
});
