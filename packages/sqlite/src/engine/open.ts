import { closeSync, openSync, statSync } from "node:fs";
import { LatchkeyError, unavailable, unfit } from "@latchkey/core";
import type { SqliteDatabase } from "./database.js";
import { isBusy } from "./errors.js";
import { openWithDriver } from "./load-driver.js";
import { hasAny, migrate, schemaVersion, VIEWS } from "./migrations/index.js";
import {
  APPLICATION_ID,
  applyPragmas,
  assertSqliteVersion,
  readPragma,
  setPragma,
} from "./pragmas.js";
import { SQL } from "./statements.js";

/** How long opening may wait for other processes that open the same file, in ms. */
const OPENING_TIMEOUT_MS = 5_000;

/** How long one statement of an attempt to open may wait for a lock, in ms: all of them share the time above. */
const ATTEMPT_TIMEOUT_MS = 50;

/** The same for an open store, in ms: the wait blocks the event loop, because the driver is synchronous. */
const SERVING_TIMEOUT_MS = 2;

/** Every column that a statement of the store names, by table. */
const COLUMNS = {
  schema: "id, version, mark",
  workspace: "seq, id, revision",
  record: "seq, workspace, kind, version, counters, id, link, body",
  counters: "seq, holders, remaining, refilled_at, last_refill_at, windows",
  used: "record, at",
  name: "seq, workspace, name, size, last",
  claim: "name, value, record",
  entry: "list, owner, id",
  passing: "workspace, name, until, value",
  statistic: "workspace, kind, subject, hour_at, code, count",
  hold: "workspace, id, first, second, expires_at, value",
};

const HAS_COLUMNS = `SELECT ${Object.entries(COLUMNS)
  .map(([table, columns]) => `EXISTS (SELECT ${columns} FROM latchkey_${table})`)
  .join(", ")}`;

/** Opens a database file, and creates it with mode 0600 if there is none. @throws TypeError for a path that names no file. */
export function openPath(path: string): SqliteDatabase {
  if (path === "" || path.includes("\0")) throw new TypeError('"path" must name a file');
  if (path !== path.trim())
    throw new TypeError(
      '"path" must not begin or end with white space: better-sqlite3 would trim it and open something else',
    );
  if (/^(?:sqlite|file):/i.test(path))
    throw new TypeError(
      '"path" must be a path, such as keys.db, not a URL: openStore of latchkey takes sqlite:./keys.db, and fileURLToPath of node:url turns a file: URL into a path',
    );
  const isFile = path !== ":memory:";
  if (isFile) createPrivately(path);
  return openWithDriver(path, { timeout: ATTEMPT_TIMEOUT_MS, fileMustExist: isFile });
}

/** Prepares a connection for serving. `isOurs`: whether the whole file is latchkey's, without other tables. */
export function prepareDatabase(database: SqliteDatabase, isOurs: boolean): void {
  if (!database.open) throw new TypeError('"database" must be open');
  if (database.inTransaction) throw new TypeError('"database" must not be inside a transaction');
  withinOpeningTime(() => {
    assertSqliteVersion(database);
    setPragma(database, "busy_timeout", ATTEMPT_TIMEOUT_MS);
    assertNotForeign(database, isOurs);
    applyPragmas(database);
    migrate(database);
    assertNoHooks(database);
    // Statements are prepared on first use: columns or upsert keys that they would miss are refused here.
    for (const sql of [HAS_COLUMNS, SQL.addSum, SQL.raiseUse]) database.prepare(sql);
    setPragma(database, "busy_timeout", SERVING_TIMEOUT_MS);
  });
}

/** Why a file could not be created, by error code, in words for the operator. */
export function reasonNotCreated(code: string): string {
  switch (code) {
    case "ENOENT":
      return "its directory does not exist: create it";
    case "EACCES":
    case "EPERM":
      return `this process may not write to its directory: change the directory's owner or mode (${code})`;
    case "EROFS":
      return "its file system is read-only: put the file on a volume that can be written to (EROFS)";
    default:
      return code;
  }
}

/** SQLite makes the log and its index with the mode of this file. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    const { code = "no reason given" } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST") {
      throw unavailable(`the database file cannot be created: ${reasonNotCreated(code)}`);
    }
    if (!statSync(path, { throwIfNoEntry: false })?.isFile())
      throw new TypeError('"path" must name a file, not a directory, a device or a broken link');
  }
}

/** One snapshot, since another process may be making the tables at this moment. */
function assertNotForeign(database: SqliteDatabase, isOurs: boolean): void {
  const check = database.transaction(() => {
    const mark = readPragma(database, "application_id");
    if (mark === APPLICATION_ID) return;
    if (mark !== 0)
      throw unfit(
        "the database is marked as another program's (application_id): give another path",
      );
    if (isOurs && schemaVersion(database) === 0 && hasAny(database, "1"))
      throw unfit(
        "the database holds tables of another program: give another path, or pass in the open database",
      );
  });
  check();
}

/**
 * A trigger on latchkey's tables, or a view in place of one, would write or return something else. latchkey's own views are for people:
 * no statement reads them.
 */
function assertNoHooks(database: SqliteDatabase): void {
  const isHook = `(type = 'trigger' OR (type = 'view' AND name NOT IN (${VIEWS})))`;
  if (!hasAny(database, `tbl_name LIKE 'latchkey\\_%' ESCAPE '\\' AND ${isHook}`)) return;
  throw new LatchkeyError(
    "STORE_CORRUPT",
    "the database has a trigger or a view on the tables of latchkey: remove it, or restore a backup",
  );
}

/**
 * Repeats the work while other processes hold the lock: if two of them switch to WAL at the same time, SQLite reports `SQLITE_BUSY` at
 * once, whatever the timeout.
 */
function withinOpeningTime<Result>(work: () => Result): Result {
  const deadline = performance.now() + OPENING_TIMEOUT_MS;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + Math.random() * 20);
    }
  }
}
