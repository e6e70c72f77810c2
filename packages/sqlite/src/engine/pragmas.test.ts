import { statSync } from "node:fs";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "../index.js";
import { aPlan, charge, deleteKey, find, withKey } from "../testing/fixtures.js";
import { openScratch } from "../testing/scratch.js";
import { Log } from "./log.js";
import { assertSqliteVersion } from "./pragmas.js";

const scratch = openScratch();
const databases: Database.Database[] = [];
afterAll(() => {
  for (const database of databases) database.close();
  scratch.remove();
});

function open(path = scratch.newPath()): Database.Database {
  const database = new Database(path);
  databases.push(database);
  return database;
}

const read = (database: Database.Database, name: string) => database.pragma(name, { simple: true });

test.each([
  ["journal_mode", "wal"],
  ["foreign_keys", 1],
  ["trusted_schema", 0],
  ["cell_size_check", 1],
  ["secure_delete", 1],
  ["recursive_triggers", 1],
  ["fullfsync", 1],
  ["checkpoint_fullfsync", 1],
  ["wal_autocheckpoint", 1_000],
  ["cache_size", -16_384],
  ["synchronous", 1],
])("%s reads back as %s, on a new file and on one that is opened again", (name, answer) => {
  const path = scratch.newPath();
  for (const database of [open(path), open(path)]) {
    sqliteStore(database);
    expect(read(database, name)).toBe(answer);
  }
});

test("a statement waits at most 20 ms for a lock while the store serves", () => {
  const database = open();
  sqliteStore(database);
  expect(read(database, "busy_timeout")).toBeGreaterThan(0);
  expect(read(database, "busy_timeout")).toBeLessThanOrEqual(20);
});

test("a connection that returns bigints serves like any other, and its log is emptied", async () => {
  const path = scratch.newPath();
  const database = open(path);
  database.defaultSafeIntegers(true);
  const store = sqliteStore(database);
  const loaded = await withKey(store, 1, 5);
  expect(await charge(store, aPlan(loaded))).toMatchObject({ kind: "charged", remaining: 4 });
  await deleteKey(store);
  expect(await find(store)).toBeNull();
  expect(new Log(database).emptyNow()).toBe(true);
  expect(statSync(`${path}-wal`).size).toBe(0);
});

test("files that the owner has attached keep their settings", async () => {
  const [path, attached] = [scratch.newPath(), scratch.newPath()];
  open(attached).exec("CREATE TABLE theirs (n)");
  const database = open(path);
  database.exec(`ATTACH '${attached}' AS other`);
  const secureDelete = read(database, "other.secure_delete");
  const store = sqliteStore(database);
  await withKey(store, 1, 5);
  await deleteKey(store);
  expect(read(database, "other.journal_mode")).toBe("delete");
  expect(read(database, "other.secure_delete")).toBe(secureDelete);
  expect(read(database, "main.journal_mode")).toBe("wal");
});

test.each([
  ["readonly", (path: string) => new Database(path, { readonly: true })],
  [
    "query_only",
    (path: string) => {
      const database = new Database(path);
      database.pragma("query_only = ON");
      return database;
    },
  ],
])("a database that is %s accepts no key, and the message says so", async (word, openAs) => {
  const path = scratch.newPath();
  await sqliteStore(path).close();
  const database = openAs(path);
  databases.push(database);
  const written = async () => withKey(sqliteStore(database));
  await expect(written()).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    outcome: "not-applied",
    message: expect.stringContaining(word),
  });
});

test("a database in memory has no log, and every other setting", () => {
  const database = open(":memory:");
  sqliteStore(database);
  expect(read(database, "journal_mode")).toBe("memory");
  expect(read(database, "foreign_keys")).toBe(1);
});

test.each(["3.51.2", "3.40.1", "2.9.9"])("SQLite %s is refused as too old", (version) => {
  expect(() => assertSqliteVersion(withVersion(version))).toThrow(/install a newer/);
});

test.each(["3.51.3", "3.51.10", "3.53.0", "4.0.0"])("SQLite %s is new enough", (version) => {
  assertSqliteVersion(withVersion(version));
});

/** A real connection that reports another version. */
function withVersion(version: string): Database.Database {
  const database = open(":memory:");
  database.function("sqlite_version", () => version);
  return database;
}
