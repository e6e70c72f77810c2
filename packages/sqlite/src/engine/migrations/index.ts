import { LatchkeyError } from "@latchkey/core";
import type { SqliteDatabase } from "../database.js";
import { APPLICATION_ID } from "../pragmas.js";
import { INITIAL } from "./0001-initial.js";

/** SQL that makes schema N + 1 out of schema N, at place N. What was released is never edited. */
const MIGRATIONS: readonly string[] = [INITIAL];

/** The views that the migrations make, as a list in SQL. */
export const VIEWS = "'latchkey_keys', 'latchkey_identities', 'latchkey_audit'";

/** The schema that this code reads and writes. */
const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * The version of latchkey's tables in this database, or 0 where it has none.
 *
 * Not kept in `user_version`: in a database that is handed in, that number belongs to its owner's migrations.
 */
export function schemaVersion(database: SqliteDatabase): number {
  const table = database
    .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'latchkey_schema'")
    .get();
  if (table === undefined) return 0;
  const row = database
    .prepare("SELECT version FROM latchkey_schema WHERE id = 1")
    .safeIntegers(false)
    .raw(true)
    .get() as readonly [unknown] | undefined;
  const version = row?.[0];
  if (!Number.isSafeInteger(version) || (version as number) < 1) {
    throw new LatchkeyError("STORE_CORRUPT", "the stored schema version is damaged");
  }
  return version as number;
}

/**
 * Brings latchkey's tables to {@link SCHEMA_VERSION}, in one transaction. Processes that open one file at once
 * take turns: the version is read again once the write lock is held.
 *
 * @throws LatchkeyError `PRECONDITION_FAILED` when a newer latchkey has written the file.
 */
export function migrate(database: SqliteDatabase): void {
  if (assertNotNewer(schemaVersion(database)) === SCHEMA_VERSION) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    const version = assertNotNewer(schemaVersion(database));
    const isEmpty = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
    for (const sql of MIGRATIONS.slice(version)) database.exec(sql);
    database
      .prepare("INSERT OR REPLACE INTO latchkey_schema (id, version) VALUES (1, ?)")
      .run(SCHEMA_VERSION);
    // A database that holds more than latchkey is its owner's to mark.
    if (isEmpty) database.pragma(`application_id = ${APPLICATION_ID}`);
    database.exec("COMMIT");
  } finally {
    if (database.inTransaction) database.exec("ROLLBACK");
  }
}

function assertNotNewer(version: number): number {
  if (version <= SCHEMA_VERSION) return version;
  throw new LatchkeyError(
    "PRECONDITION_FAILED",
    `the database has schema ${version}, and this latchkey knows up to ${SCHEMA_VERSION}: install a newer @latchkey/sqlite`,
  );
}
