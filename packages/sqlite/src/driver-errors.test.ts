import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { translateError } from "./errors.js";
import { sqliteStore } from "./index.js";
import { aKey, aPlan, insertKey, load, withKey } from "./testing/fixtures.js";
import { openScratch, withDatabase } from "./testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

test("a full disk is STORE_UNAVAILABLE, nothing is half written, and the store works again afterwards", async () => {
  const database = new Database(scratch.newPath());
  const store = sqliteStore(database);
  const loaded = await withKey(store, aKey(1, 5));
  const pages = database.pragma("page_count", { simple: true });
  database.pragma(`max_page_count = ${pages}`);
  const meta = { text: "x".repeat(16_000) };
  await expect(insertKey(store, aKey(2, 5, { meta }))).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    outcome: "not-applied",
  });
  expect(await store.getKey(loaded.key.workspaceId, "key_000000000002")).toBeNull();
  database.pragma("max_page_count = 100000");
  expect(await insertKey(store, aKey(2, 5, { meta }))).toEqual({ kind: "inserted", created: [] });
  expect(await store.charge(aPlan(await load(store)))).toMatchObject({ kind: "charged" });
  database.close();
});

test("tables that somebody dropped are STORE_CORRUPT", async () => {
  const database = new Database(":memory:");
  const store = sqliteStore(database);
  await withKey(store);
  database.exec("DROP TABLE latchkey_key_role");
  await expect(load(store)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  database.close();
});

test("a file whose tables are not those of its version is STORE_CORRUPT when it is opened", async () => {
  const path = scratch.newPath();
  await sqliteStore(path).close();
  withDatabase(path, (database) => database.exec("DROP TABLE latchkey_window"));
  expect(() => sqliteStore(path)).toThrow(expect.objectContaining({ code: "STORE_CORRUPT" }));
});

test.each([
  ["SQLITE_BUSY_SNAPSHOT", "STORE_UNAVAILABLE"],
  ["SQLITE_IOERR_FSYNC", "STORE_UNAVAILABLE"],
  ["SQLITE_READONLY", "STORE_UNAVAILABLE"],
  ["SQLITE_FULL", "STORE_UNAVAILABLE"],
  ["SQLITE_CORRUPT_INDEX", "STORE_CORRUPT"],
  ["SQLITE_NOTADB", "STORE_CORRUPT"],
  ["SQLITE_CONSTRAINT_UNIQUE", "INTERNAL_SERVER_ERROR"],
])("%s leaves the store as %s, without the text or the error of the driver", (code, expected) => {
  const error = translateError(new Database.SqliteError("text of the driver", code), "unknown");
  expect(error).toMatchObject({ code: expected });
  expect(error).not.toHaveProperty("cause");
  expect(String(error)).not.toContain("text of the driver");
  if (expected === "STORE_UNAVAILABLE") expect(error).toMatchObject({ outcome: "unknown" });
});
