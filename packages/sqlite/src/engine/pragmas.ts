import { unfit } from "@latchkey/core";
import type { SqliteDatabase } from "./database.js";

/** `LKEY`, in the header of every file that latchkey made. */
export const APPLICATION_ID = 0x4c4b4559;

/** Earlier versions could damage a WAL database that two connections write to: https://www.sqlite.org/wal.html#walreset */
const OLDEST_SQLITE = "3.51.3";

/** Created once: creating it takes longer than asking SQLite for its version. */
const { compare } = new Intl.Collator("en", { numeric: true });

/**
 * None is left to its default, which depends on how SQLite was compiled and on whether the file is new, and would decide how durable a
 * write is.
 */
const SETTINGS: readonly (readonly [name: string, value: number])[] = [
  ["foreign_keys", 1],
  // Nothing in the schema of the file may call functions with side effects.
  ["trusted_schema", 0],
  ["cell_size_check", 1],
  // Deleted data is overwritten: an erased secret does not stay behind in a free page.
  ["secure_delete", 1],
  ["recursive_triggers", 1],
  ["fullfsync", 1],
  ["checkpoint_fullfsync", 1],
  // The cache of one connection, in KiB, negated. SQLite's own 2 MiB hold a few thousand keys.
  ["cache_size", -16_384],
  // The log is copied into the file whenever it has grown to this many pages.
  ["wal_autocheckpoint", 1_000],
  // NORMAL: `Log` flushes what must be on the disk before a call resolves.
  ["synchronous", 1],
];

/** @throws LatchkeyError `PRECONDITION_FAILED` if the driver brings a SQLite that is too old. */
export function assertSqliteVersion(database: SqliteDatabase): void {
  const [version] = database.prepare("SELECT sqlite_version()").raw(true).get() as [string];
  if (compare(version, OLDEST_SQLITE) < 0)
    throw unfit(`SQLite ${OLDEST_SQLITE} or later is needed: install a newer better-sqlite3`);
}

/** Applies all settings. Without `main`, SQLite would also change the files that the owner has attached. */
export function applyPragmas(database: SqliteDatabase): void {
  // A database in memory has no journal file.
  const wanted = database.memory ? "memory" : "wal";
  if (database.pragma("main.journal_mode = WAL", { simple: true }) !== wanted)
    throw unfit("the database cannot use a write-ahead log here: put the file on a local disk");
  for (const [name, value] of SETTINGS) setPragma(database, name, value);
}

/** Sets a pragma, and checks that it took effect. */
export function setPragma(database: SqliteDatabase, name: string, value: number): void {
  database.pragma(`main.${name} = ${value}`);
  if (readPragma(database, name) !== value)
    throw unfit(`this SQLite does not keep its setting "${name}"`);
}

/** The number that a pragma returns, even on a connection that returns bigints (`defaultSafeIntegers`). */
export function readPragma(database: SqliteDatabase, pragma: string): number {
  return Number(database.pragma(`main.${pragma}`, { simple: true }));
}
