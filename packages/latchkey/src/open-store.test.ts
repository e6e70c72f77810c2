import { existsSync } from "node:fs";
import { join } from "node:path";
import { createLatchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { openStore } from "./open-store.js";
import { tempFolder } from "./testing/temp-folder.js";

test.each(["memory:", "sqlite::memory:"])("%s opens an empty, working store", async (url) => {
  const latchkey = createLatchkey({ store: openStore(url) });
  const { apiId } = await latchkey.createApi({ name: "tide-tables" });
  const { key } = await latchkey.createKey({ apiId });
  expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true, apiId });
  await latchkey.close();
});

test("sqlite: keeps keys in the named file until it is opened again", async () => {
  const path = join(tempFolder(), "keys.db");
  const before = createLatchkey({ store: openStore(`sqlite:${path}`) });
  const { apiId } = await before.createApi({ name: "tide-tables" });
  const { key } = await before.createKey({ apiId, remaining: 2 });
  await before.verifyKey({ key });
  await before.close();
  expect(existsSync(path)).toBe(true);

  const after = createLatchkey({ store: openStore(`sqlite:${path}`) });
  expect(await after.verifyKey({ key })).toMatchObject({ valid: true, remaining: 0 });
  await after.close();
});

test("options reach the store that the URL names", () => {
  const options = { sqlite: { deadlineMs: -1 } };
  expect(() => openStore("sqlite::memory:", options)).toThrow('"deadlineMs"');
  expect(() => openStore("memory:", options)).not.toThrow();
});

test("a misspelt option is refused by name, for every store", () => {
  for (const url of [
    "memory:",
    "sqlite::memory:",
    "redis://127.0.0.1:1",
    "postgres://127.0.0.1:1/a",
  ])
    expect(() => openStore(url, { postgre: { schema: "keys" } } as object)).toThrow(
      new TypeError(
        '"postgre" is not an option of openStore: those of a store are in "sqlite", "redis" or "postgres"',
      ),
    );
});

test("an unreachable Redis is STORE_UNAVAILABLE with the first call, and can still be closed", async () => {
  const latchkey = createLatchkey({ store: openStore("redis://app:hunter2@127.0.0.1:1/0") });
  const call = latchkey.createApi({ name: "tide-tables" });
  await expect(call).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
  await expect(call).rejects.not.toThrow("hunter2");
  await latchkey.close();
});

test("an unreachable PostgreSQL is STORE_UNAVAILABLE with the first call, and can still be closed", async () => {
  const latchkey = createLatchkey({ store: openStore("postgres://app:hunter2@127.0.0.1:1/keys") });
  const call = latchkey.createApi({ name: "tide-tables" });
  await expect(call).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
  await expect(call).rejects.not.toThrow("hunter2");
  await latchkey.close();
});

test("a URL of no store is refused before anything is written", () => {
  expect(() => openStore("redis+cluster://app:hunter2@a:port")).toThrow(TypeError);
  expect(() => openStore("redis+cluster://app:hunter2@a:port")).not.toThrow("hunter2");
  expect(() => openStore("keys.db")).toThrow(TypeError);
  expect(existsSync("keys.db")).toBe(false);
});
