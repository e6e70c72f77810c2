import { LatchkeyError, unfit } from "@latchkey/core";
import type { SqliteDatabase } from "../database.js";
import { APPLICATION_ID } from "../pragmas.js";
import { INITIAL } from "./0001-initial.js";
import { HOLDS } from "./0002-holds.js";
import { LOG } from "./0003-log.js";
import { DAYS } from "./0004-days.js";
import { VIEWS as MAKE_VIEWS } from "./views.js";

/**
 * SQL that turns schema N into schema N + 1, at index N. A released step is never edited; when a key gets a new field, the SQL of the
 * views is appended again as the last step.
 */
const MIGRATIONS: readonly string[] = [INITIAL, HOLDS, LOG, DAYS, MAKE_VIEWS];

/** The schema that this code reads and writes. */
const LATEST = MIGRATIONS.length;

/** The views that the migrations create, as a list in SQL. */
export const VIEWS = "'latchkey_keys', 'latchkey_identities', 'latchkey_audit'";

/** Whether the schema of a database has any entry that meets the condition. */
export function hasAny(database: SqliteDatabase, condition: string): boolean {
  const sql = `SELECT 1 FROM sqlite_schema WHERE ${condition} LIMIT 1`;
  return database.prepare(sql).get() !== undefined;
}

/** @throws LatchkeyError `PRECONDITION_FAILED` if a newer latchkey has written the tables, even while this one has them open. */
export function assertKnown(version: number): void {
  if (version > LATEST)
    throw unfit(
      `the database has schema ${version}, and this latchkey knows up to ${LATEST}: install a newer @latchkey/sqlite, or restore a backup from before the update`,
    );
}

/**
 * The version of latchkey's tables; 0 if there are none. Not kept in `user_version`, which belongs to the owner of the database.
 *
 * @throws LatchkeyError `PRECONDITION_FAILED` if a newer latchkey has written it.
 */
export function schemaVersion(database: SqliteDatabase): number {
  if (!hasAny(database, "type = 'table' AND name = 'latchkey_schema'")) return 0;
  const stored = database.prepare("SELECT version FROM latchkey_schema WHERE id = 1").raw(true);
  const version = Number(stored.get());
  assertKnown(version);
  if (Number.isSafeInteger(version) && version > 0) return version;
  throw new LatchkeyError("STORE_CORRUPT", "the stored schema version is damaged");
}

/**
 * Brings latchkey's tables up to date, in one transaction. Processes that open one file at once take turns: each reads the version again
 * once it holds the write lock.
 */
export function migrate(database: SqliteDatabase): void {
  if (schemaVersion(database) === LATEST) return;
  const bringUpToDate = database.transaction(() => {
    // If the database holds anything else, its owner decides about the mark.
    if (!hasAny(database, "1")) database.pragma(`application_id = ${APPLICATION_ID}`);
    for (const sql of MIGRATIONS.slice(schemaVersion(database))) database.exec(sql);
    database.exec(`INSERT INTO latchkey_schema (id, version) VALUES (1, ${LATEST})
      ON CONFLICT (id) DO UPDATE SET version = excluded.version`);
  });
  bringUpToDate.immediate();
}
