import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "@latchkey/memory";
import { afterAll, expect, test } from "vitest";
import { backup, copy, restore, takeBack } from "./index.js";
import { latchkeyOn } from "./testing/fixture.js";

const folder = mkdtempSync(join(tmpdir(), "latchkey-options-"));
afterAll(() => rmSync(folder, { recursive: true }));

const passphrase = "tiles and maps";
const recipients = ["age1"];
const identity = "AGE-SECRET-KEY-1";
const EXACTLY_ONE = "must have exactly one of passphrase and";

test("a backup with a wrong option is refused, and no file is written", async () => {
  const path = join(folder, "never.lkb");
  for (const [options, message] of [
    [{ encyption: { passphrase } }, '"encyption" is not an option of backup'],
    [{ passphrase }, '"passphrase" is not an option of backup'],
    [{ constructor: { passphrase } }, '"constructor" is not an option of backup'],
    [{ encryption: passphrase }, '"encryption" must be an object'],
    [{ encryption: null }, '"encryption" must be an object'],
    [{ encryption: {} }, `"encryption" ${EXACTLY_ONE} recipients`],
    [{ encryption: { pass: passphrase } }, `"encryption" ${EXACTLY_ONE} recipients`],
    [{ encryption: { passphrase, recipients } }, `"encryption" ${EXACTLY_ONE} recipients`],
    [{ encryption: { passphrase: undefined } }, '"passphrase" must be a string'],
    [{ encryption: { recipients: "age1" } }, '"recipients" must be 1 to 100 age recipients'],
    [{ encryption: { recipients, workFactor: 8 } }, '"workFactor" is only for an encryption with'],
    [{ onProgress: 5 }, '"onProgress" must be a function'],
    [null, "the options of backup must be an object"],
  ] as const) {
    const refused = backup(memoryStore(), path, options as never);
    await expect(refused, message).rejects.toThrow(TypeError);
    await expect(refused).rejects.toThrow(message);
  }
  expect(existsSync(path)).toBe(false);
});

test("a restore with a wrong option is refused, and writes nothing", async () => {
  const from = memoryStore();
  await latchkeyOn(from).createApi({ name: "tiles" });
  const path = join(folder, "whole.lkb");
  await backup(from, path, { encryption: undefined as never });
  const to = memoryStore();
  for (const [options, message] of [
    [{ decription: { passphrase } }, '"decription" is not an option of restore'],
    [{ encryption: { passphrase } }, '"encryption" is not an option of restore'],
    [{ decryption: {} }, `"decryption" ${EXACTLY_ONE} identity`],
    [{ decryption: { passphrase, identity } }, `"decryption" ${EXACTLY_ONE} identity`],
    [{ startOver: "no" }, '"startOver" must be true or false'],
    [null, "the options of restore must be an object"],
  ] as const) {
    const refused = restore(to, path, options as never);
    await expect(refused, message).rejects.toThrow(TypeError);
    await expect(refused).rejects.toThrow(message);
  }
  await restore(to, path, { startOver: undefined as never });
  expect((await latchkeyOn(to).listApis()).total).toBe(1);
});

test("a copy or its cancellation with a wrong option is refused", async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  for (const [options, message] of [
    [{ Live: true }, '"Live" is not an option of copy'],
    [{ live: "yes" }, '"live" must be true or false'],
    [{ force: true }, '"force" is not an option of copy'],
    [null, "the options of copy must be an object"],
  ] as const)
    await expect(copy(from, to, options as never)).rejects.toThrow(message);
  await expect(takeBack(from, null, { forced: true } as never)).rejects.toThrow(
    '"forced" is not an option of takeBack',
  );
});

test("a latchkey, or nothing, in place of a store is refused by name", async () => {
  const store = memoryStore();
  const latchkey = latchkeyOn(store) as never;
  const path = join(folder, "of-no-store.lkb");
  for (const [work, name] of [
    [copy(latchkey, store), "from"],
    [copy(store, "sqlite:./keys.db" as never), "to"],
    [copy({ from: store, to: store } as never, undefined as never), "from"],
    [backup(latchkey, path), "store"],
    [restore(latchkey, path), "to"],
    [takeBack(latchkey, null, { force: true }), "from"],
    [takeBack(store, latchkey), "to"],
  ] as const)
    await expect(work).rejects.toThrow(
      new TypeError(`"${name}" must be a store, such as the one that openStore returns`),
    );
  expect(existsSync(path)).toBe(false);
});
