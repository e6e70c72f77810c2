import type { SqliteDatabase } from "./database.js";
import { refusal } from "./errors.js";

/** `LKEY`, in the header of every file that latchkey made. */
export const APPLICATION_ID = 0x4c4b4559;

/** Before it, SQLite could damage a WAL database that two connections write to: https://www.sqlite.org/wal.html#walreset */
const OLDEST_SQLITE = "3.51.3";

/** How long opening may wait for other processes that open the same file, in ms. */
export const OPENING_TIMEOUT_MS = 5_000;

/**
 * How long one statement may wait for a lock, in ms. The driver is synchronous: all of it is time in which the event loop
 * stands still, so what it does not bring is tried again asynchronously.
 */
export const SERVING_TIMEOUT_MS = 2;

/**
 * The WAL is copied into the file whenever it has grown to this many pages: 4 MiB of pages of 2 KiB, as much as SQLite's own
 * default of 1,000 pages of 4 KiB.
 */
const CHECKPOINT_PAGES = 2_000;

/**
 * How much of the file one connection keeps in memory, in KiB: as it is used, no sooner. SQLite's own 2 MiB hold a few
 * thousand keys; for every page that is not there, a charge asks the operating system.
 */
const CACHE_KIB = 16_384;

/** Values of `PRAGMA synchronous`. */
export const SYNCHRONOUS = { NORMAL: 1, FULL: 2 } as const;

/**
 * Every setting of a connection with the value it must read back as. None is left to a default: which default SQLite was
 * compiled with, and whether the file is new, would decide how durable a write is.
 */
const SETTINGS: readonly (readonly [name: string, value: number])[] = [
  ["foreign_keys", 1],
  // Nothing that is written into the schema of the file may call functions with side effects.
  ["trusted_schema", 0],
  ["cell_size_check", 1],
  // What is deleted is overwritten: an erased secret is not left behind in a free page.
  ["secure_delete", 1],
  ["recursive_triggers", 1],
  ["fullfsync", 1],
  ["checkpoint_fullfsync", 1],
  ["cache_size", -CACHE_KIB],
  ["wal_autocheckpoint", CHECKPOINT_PAGES],
  ["synchronous", SYNCHRONOUS.FULL],
];

/** @throws LatchkeyError `PRECONDITION_FAILED` when the driver brings a SQLite that is too old. */
export function assertSqliteVersion(database: SqliteDatabase): void {
  const version = database.prepare("SELECT sqlite_version()").pluck(true).get() as string;
  const order = version.localeCompare(OLDEST_SQLITE, "en", { numeric: true });
  if (order < 0)
    throw refusal(`SQLite ${OLDEST_SQLITE} or later is needed: install a newer better-sqlite3`);
}

/** Switches the file to WAL. A database in memory has no journal file. */
export function useWal(database: SqliteDatabase): void {
  const wanted = database.memory ? "memory" : "wal";
  if (database.pragma("journal_mode = WAL", { simple: true }) !== wanted)
    throw refusal("the database cannot use a write-ahead log here: put the file on a local disk");
}

/** Sets everything that makes a connection safe. */
export function applyPragmas(database: SqliteDatabase): void {
  for (const [name, value] of SETTINGS) setPragma(database, name, value);
}

/** Sets one, and makes sure that it holds. */
export function setPragma(database: SqliteDatabase, name: string, value: number): void {
  database.pragma(`${name} = ${value}`);
  if (database.pragma(name, { simple: true }) !== value)
    throw refusal(`this SQLite does not keep its setting "${name}"`);
}
