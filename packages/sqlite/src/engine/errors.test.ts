import { runInNewContext } from "node:vm";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "../index.js";
import { damageFile } from "../testing/damage.js";
import { aPlan, charge, deleteKey, find, load, withKey } from "../testing/fixtures.js";
import { openScratch, withDatabase } from "../testing/scratch.js";
import { isBusy, translateError } from "./errors.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

test("a full disk is STORE_UNAVAILABLE, nothing is half written, and the store works again afterwards", async () => {
  const database = new Database(scratch.newPath());
  const store = sqliteStore(database);
  await withKey(store, 1, 5);
  const pages = database.pragma("page_count", { simple: true });
  database.pragma(`max_page_count = ${pages}`);
  const body = { text: "x".repeat(16_000) };
  await expect(withKey(store, 2, 5, { body })).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    outcome: "not-applied",
  });
  expect(await find(store, 2)).toBeNull();
  database.pragma("max_page_count = 100000");
  expect(await withKey(store, 2, 5, { body })).toMatchObject({ record: { body } });
  expect(await charge(store, aPlan(await load(store)))).toMatchObject({ kind: "charged" });
  database.close();
});

test("while the owner of the connection iterates over rows, a change is STORE_UNAVAILABLE and not applied", async () => {
  const database = new Database(":memory:");
  const store = sqliteStore(database);
  await withKey(store, 1, 5);
  const rows = database.prepare("SELECT 1 UNION SELECT 2").iterate();
  rows.next();
  await expect(deleteKey(store)).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    outcome: "not-applied",
    message: expect.stringContaining("busy with a query of its owner"),
  });
  rows.return?.();
  await deleteKey(store);
  expect(await find(store)).toBeNull();
  database.close();
});

test("dropped tables are STORE_CORRUPT", async () => {
  const database = new Database(":memory:");
  const store = sqliteStore(database);
  await withKey(store);
  database.exec("DROP TABLE latchkey_used");
  await expect(load(store)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  database.close();
});

test("a file whose tables do not match its schema version is STORE_CORRUPT when it is opened", async () => {
  const path = scratch.newPath();
  await sqliteStore(path).close();
  withDatabase(path, (database) => database.exec("DROP TABLE latchkey_passing"));
  expect(() => sqliteStore(path)).toThrow(expect.objectContaining({ code: "STORE_CORRUPT" }));
});

test.each([
  "remaining = -5",
  "remaining = 'NaN'",
  "refilled_at = 0.5",
  "windows = 'a=1'",
  "windows = 'a=1=-1'",
  "windows = 'a=1=0.5'",
  "windows = '=1=1'",
  "windows = 'a=1=9007199254740992'",
])(
  "counters with %s refuse charges, and the record is read without its body and can be deleted",
  async (damage) => {
    const path = scratch.newPath();
    const store = sqliteStore(path);
    const loaded = await withKey(store, 1, 5);
    await withKey(store, 2, 5);
    damageFile(path, `UPDATE latchkey_counters SET ${damage} WHERE seq = 1`);
    await expect(charge(store, aPlan(loaded))).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    expect(await charge(store, aPlan(await load(store, 2)))).toMatchObject({ remaining: 4 });
    if (!damage.startsWith("windows"))
      expect(await load(store)).toMatchObject({
        record: { body: undefined },
        usage: { remaining: 0 },
      });
    await deleteKey(store);
    expect(await find(store)).toBeNull();
    await store.close();
  },
);

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

test.each([
  ["SQLITE_READONLY_DIRECTORY", "directory"],
  ["SQLITE_READONLY", "file"],
])("%s says that the %s must be writable", (code, what) => {
  const error = translateError(new Database.SqliteError("text of the driver", code), "not-applied");
  expect(String(error)).toContain(`let this process write to its ${what}`);
});

test("SQLITE_BUSY says who may hold the lock: if nothing seems to write, a process stands still", () => {
  const error = translateError(new Database.SqliteError("text", "SQLITE_BUSY"), "not-applied");
  expect(String(error)).toContain("another process is writing to it, or was stopped");
});

test.each([
  ["SQLITE_FULL", "no space left on its disk"],
  ["SQLITE_IOERR_SHMSIZE", "no space left on its disk"],
  ["SQLITE_IOERR_SHMLOCK", "keep it on a local disk"],
  ["SQLITE_IOERR_SHMMAP", "keep it on a local disk"],
  ["SQLITE_IOERR_LOCK", "keep it on a local disk"],
  ["SQLITE_IOERR_READ", "its disk or its file system failed"],
])("%s says what is wrong with the disk: %s", (code, what) => {
  const error = translateError(new Database.SqliteError("text of the driver", code), "not-applied");
  expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(String(error)).toContain(what);
});

test("a busy database is busy also if the error is of another realm, such as that of the first test file", () => {
  const foreign = runInNewContext(
    `Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY" })`,
  );
  expect(foreign).not.toBeInstanceOf(Error);
  expect(isBusy(foreign)).toBe(true);
  expect([undefined, null, 7, "SQLITE_BUSY"].map(isBusy)).toEqual([false, false, false, false]);
});
