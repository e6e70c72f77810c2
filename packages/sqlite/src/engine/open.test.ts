import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EMPTY_CHANGE, LatchkeyError } from "@latchkey/core";
import Database from "better-sqlite3";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { type SqliteStoreOptions, sqliteStore } from "../index.js";
import { aPlan, charge, load, withKey } from "../testing/fixtures.js";
import { openScratch, withDatabase } from "../testing/scratch.js";
import { reasonNotCreated } from "./open.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

const modeOf = (path: string) => statSync(path).mode & 0o777;

function errorOf(call: () => unknown): LatchkeyError {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(LatchkeyError);
    return error as LatchkeyError;
  }
  throw new Error("nothing was thrown");
}

test("only their owner can read a new file and its log", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  await withKey(store);
  expect([path, `${path}-wal`, `${path}-shm`].map(modeOf)).toEqual([0o600, 0o600, 0o600]);
  await store.close();
});

test("an existing file keeps its mode", async () => {
  const path = scratch.newPath();
  await sqliteStore(path).close();
  chmodSync(path, 0o640);
  await sqliteStore(path).close();
  expect(modeOf(path)).toBe(0o640);
});

test("closing leaves one file, with everything in it", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  await withKey(store, 1, 5);
  await store.close();
  expect(statSync(`${path}-wal`, { throwIfNoEntry: false })).toBeUndefined();
  const reopened = sqliteStore(path);
  expect((await load(reopened)).usage?.remaining).toBe(5);
  await reopened.close();
});

test("an empty file becomes a database", async () => {
  const path = scratch.newPath();
  writeFileSync(path, "");
  await sqliteStore(path).close();
  withDatabase(path, (database) =>
    expect(database.pragma("application_id", { simple: true })).toBe(0x4c4b4559),
  );
});

test("a file marked as another program's is refused and not changed", () => {
  const path = scratch.newPath();
  withDatabase(path, (database) => {
    database.pragma("application_id = 77");
    database.exec("CREATE TABLE theirs (n)");
  });
  expect(errorOf(() => sqliteStore(path))).toMatchObject({ code: "PRECONDITION_FAILED" });
  withDatabase(path, (database) => {
    expect(database.pragma("journal_mode", { simple: true })).toBe("delete");
    expect(errorOf(() => sqliteStore(database))).toMatchObject({ code: "PRECONDITION_FAILED" });
  });
});

test("a path to a file with tables of another program is refused", () => {
  const path = scratch.newPath();
  withDatabase(path, (database) => database.exec("CREATE TABLE theirs (n)"));
  const error = errorOf(() => sqliteStore(path));
  expect(error.code).toBe("PRECONDITION_FAILED");
  expect(error.message).toContain("pass in the open database");
});

test("a database that is handed in keeps its tables and its marks, and can be opened by path from then on", async () => {
  const path = scratch.newPath();
  const database = new Database(path);
  database.exec("CREATE TABLE theirs (n); INSERT INTO theirs VALUES (1)");
  database.pragma("user_version = 9");
  const store = sqliteStore(database);
  await withKey(store);
  await store.close();
  expect(database.open).toBe(true);
  expect(database.prepare("SELECT n FROM theirs").pluck().get()).toBe(1);
  expect(database.pragma("user_version", { simple: true })).toBe(9);
  expect(database.pragma("application_id", { simple: true })).toBe(0);
  database.close();
  const reopened = sqliteStore(path);
  expect(await load(reopened)).not.toBeNull();
  await reopened.close();
});

test("a file that is not a database is refused with STORE_CORRUPT", () => {
  const path = scratch.newPath();
  writeFileSync(path, "not a database, and longer than the header of one would be ".repeat(20));
  const error = errorOf(() => sqliteStore(path));
  expect(error.code).toBe("STORE_CORRUPT");
  expect(error.message).toContain("restore a backup");
});

test("a directory, a broken link and a nameless path are wrong arguments", () => {
  const directory = scratch.newPath();
  mkdirSync(directory);
  const link = scratch.newPath();
  symlinkSync(`${link}-nowhere`, link);
  for (const path of [directory, link, "", "a\0b"]) {
    expect(() => sqliteStore(path)).toThrow(TypeError);
  }
});

test.each([
  ["EACCES", "this process may not write to its directory"],
  ["EPERM", "this process may not write to its directory"],
  ["EROFS", "its file system is read-only"],
  ["ENOENT", "its directory does not exist"],
  ["ENOSPC", "ENOSPC"],
])("a file that cannot be created says why: %s", (code, reason) => {
  expect(reasonNotCreated(code)).toContain(reason);
});

test.each([
  " :memory:",
  ":memory: ",
  " ",
  "\t",
  "\n",
  "tenant.db ",
  " tenant.db",
  "tenant.db\u00a0",
  "\ufefftenant.db",
])("a path that better-sqlite3 would read as another one is refused by name: %j", (path) => {
  expect(() => sqliteStore(path)).toThrow(TypeError);
  expect(() => sqliteStore(path)).toThrow('"path" must not begin or end with white space');
  expect(existsSync(path.trim())).toBe(false);
});

test.each([
  "sqlite:./keys.db",
  "sqlite:keys.db",
  "SQLite:/tmp/keys.db",
  "sqlite::memory:",
  "file:keys.db",
  "file:///tmp/keys.db",
  "file::memory:",
])("%s is refused as a URL, and no file of that name is made", (url) => {
  expect(() => sqliteStore(url)).toThrow(TypeError);
  expect(() => sqliteStore(url)).toThrow('"path" must be a path, such as keys.db, not a URL');
  expect(existsSync(url)).toBe(false);
});

test("a name that looks like a URI or like memory names a file", async () => {
  const directory = scratch.newPath();
  mkdirSync(directory);
  for (const name of ["file:keys.db", "file::memory:", ":memory:.db", "a?mode=memory"]) {
    await sqliteStore(join(directory, name)).close();
    expect(existsSync(join(directory, name))).toBe(true);
  }
});

test("a file in a directory that does not exist is STORE_UNAVAILABLE, and says what to do", () => {
  const error = errorOf(() => sqliteStore(`${scratch.newPath()}/keys.db`));
  expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
  expect(error.message).toContain("create it");
});

test("a trigger on a table of latchkey is refused", async () => {
  const path = scratch.newPath();
  await sqliteStore(path).close();
  withDatabase(path, (database) =>
    database.exec(
      "CREATE TRIGGER planted AFTER UPDATE ON latchkey_counters BEGIN DELETE FROM latchkey_record; END",
    ),
  );
  expect(errorOf(() => sqliteStore(path)).code).toBe("STORE_CORRUPT");
});

test("a view in place of a table of latchkey is refused", async () => {
  const path = scratch.newPath();
  await sqliteStore(path).close();
  withDatabase(path, (database) =>
    database.exec("CREATE VIEW latchkey_planted AS SELECT * FROM latchkey_record"),
  );
  expect(errorOf(() => sqliteStore(path)).code).toBe("STORE_CORRUPT");
});

/** Every table of latchkey with its columns. */
function tables(): readonly (readonly [table: string, columns: readonly string[]])[] {
  const database = new Database(":memory:");
  sqliteStore(database);
  const named = database
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'latchkey%' ORDER BY 1",
    )
    .pluck()
    .all() as string[];
  const found = named.map((table) => {
    const columns = database.prepare("SELECT name FROM pragma_table_info(?)").pluck().all(table);
    return [table, columns as string[]] as const;
  });
  database.close();
  return found;
}

/** Opens a database that was changed behind the back of latchkey. */
function openChanged(sql: string): LatchkeyError {
  const database = new Database(":memory:");
  sqliteStore(database);
  // SQLite refuses to change columns that a view uses.
  for (const name of ["keys", "identities", "audit"]) database.exec(`DROP VIEW latchkey_${name}`);
  database.exec(sql);
  const error = errorOf(() => sqliteStore(database));
  database.close();
  return error;
}

test.each(tables())(
  "a database is refused when it is opened if its %s, or a column of it, has another name",
  (table, columns) => {
    expect(openChanged(`ALTER TABLE ${table} RENAME TO other`).code).toBe("STORE_CORRUPT");
    for (const column of columns)
      expect(openChanged(`ALTER TABLE ${table} RENAME ${column} TO other`).code).toBe(
        "STORE_CORRUPT",
      );
  },
);

test.each([
  ["latchkey_statistic", "workspace, kind, subject, hour_at, code, count"],
  ["latchkey_used", "record, at"],
])(
  "a database whose %s was copied without its key is refused when it is opened",
  (table, columns) => {
    const sql = `DROP TABLE ${table}; CREATE TABLE ${table} (${columns})`;
    expect(openChanged(sql).code).toBe("STORE_CORRUPT");
  },
);

test("opening a database that another connection keeps locked ends in time with an error, however many statements it takes", async () => {
  const path = scratch.newPath();
  await sqliteStore(path).close();
  withDatabase(path, (database) => {
    database.pragma("journal_mode = DELETE");
    database.exec("BEGIN EXCLUSIVE");
    // Each attempt takes a second by this clock. All statements share one deadline of 5 s, instead of one each.
    let now = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 1_000));
    onTestFinished(() => clock.mockRestore());
    expect(errorOf(() => sqliteStore(path))).toMatchObject({
      code: "STORE_UNAVAILABLE",
      outcome: "not-applied",
    });
    expect(now).toBe(6_000);
  });
});

test("a database that a newer latchkey upgrades while it is open is no longer read or written", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  await store.read("ws_default", []);
  withDatabase(path, (database) => database.exec("UPDATE latchkey_schema SET version = 1000"));
  const calls = [
    () => store.read("ws_default", []),
    () => store.commit("ws_default", EMPTY_CHANGE),
  ];
  for (const call of [...calls, ...calls])
    await expect(call()).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });
  await store.close();
});

test("a database of a newer latchkey is refused and left as it is", async () => {
  const path = scratch.newPath();
  await sqliteStore(path).close();
  withDatabase(path, (database) => database.exec("UPDATE latchkey_schema SET version = 1000"));
  const error = errorOf(() => sqliteStore(path));
  expect(error.code).toBe("PRECONDITION_FAILED");
  expect(error.message).toContain("install a newer @latchkey/sqlite, or restore a backup");
});

test("opening again changes neither the tables nor their content", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  const loaded = await withKey(store, 1, 5);
  await store.close();
  const schema = () =>
    withDatabase(path, (database) => database.prepare("SELECT sql FROM sqlite_schema").all());
  const before = schema();
  const reopened = sqliteStore(path);
  expect(await load(reopened)).toEqual(loaded);
  await reopened.close();
  expect(schema()).toEqual(before);
});

test.each<[SqliteStoreOptions, string]>([
  [{ durability: "off" as never }, '"durability"'],
  [{ deadlineMs: -1 }, '"deadlineMs"'],
  [{ deadlineMs: 0.5 }, '"deadlineMs"'],
  [{ deadlineMs: 600_001 }, '"deadlineMs"'],
  [{ timeout: 5 } as never, '"timeout"'],
  [null as never, '"options"'],
])("wrong options are refused by name (%o)", (options, name) => {
  expect(() => sqliteStore(":memory:", options)).toThrow(TypeError);
  expect(() => sqliteStore(":memory:", options)).toThrow(name);
});

test("anything but a path or a database is a wrong argument", () => {
  for (const source of [undefined, null, 5, {}, []]) {
    expect(() => sqliteStore(source as never)).toThrow(TypeError);
  }
});

test("every call inside a transaction of the database's owner is refused, and charges nothing", async () => {
  const database = new Database(":memory:");
  const store = sqliteStore(database);
  const loaded = await withKey(store, 1, 5);
  database.exec("BEGIN");
  expect(() => sqliteStore(database)).toThrow(TypeError);
  for (const call of [charge(store, aPlan(loaded)), load(store), withKey(store, 2)]) {
    await expect(call).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      outcome: "not-applied",
      message: expect.stringContaining("transaction of its owner"),
    });
  }
  database.exec("ROLLBACK");
  expect((await load(store)).usage?.remaining).toBe(5);
  database.close();
});

test("a database that its owner has closed is STORE_UNAVAILABLE", async () => {
  const database = new Database(":memory:");
  const store = sqliteStore(database);
  const loaded = await withKey(store, 1, 5);
  database.close();
  await expect(charge(store, aPlan(loaded))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await store.close();
});
