import { type ErrorCode, LatchkeyError } from "@latchkey/core";

/** The result code of an error that SQLite answered, such as `SQLITE_BUSY_SNAPSHOT`; null for every other error. */
export function sqliteCode(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  const { code } = error;
  return typeof code === "string" && code.startsWith("SQLITE_") ? code : null;
}

/** Whether another connection was in the way: the same call may succeed in a moment. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== null && /^SQLITE_(BUSY|LOCKED)/.test(code);
}

/** The error for a call that did nothing because the store cannot be used now. */
export function unavailable(message: string): LatchkeyError {
  return new LatchkeyError("STORE_UNAVAILABLE", message, { outcome: "not-applied" });
}

/** The error for a database that is not fit to be used. */
export function refusal(message: string): LatchkeyError {
  return new LatchkeyError("PRECONDITION_FAILED", message);
}

/** What each group of SQLite's codes means, the more special first. */
const MEANINGS: readonly (readonly [codes: RegExp, code: ErrorCode, message: string])[] = [
  [
    /^NOTADB/,
    "STORE_CORRUPT",
    "the file is not a SQLite database: give another path, or restore a backup",
  ],
  [/^CORRUPT/, "STORE_CORRUPT", "the database file is damaged: restore it from a backup"],
  [/^ERROR$/, "STORE_CORRUPT", "the tables of the database are not those that latchkey made"],
  [
    /^(CONSTRAINT|MISMATCH|TOOBIG|RANGE|MISUSE)/,
    "INTERNAL_SERVER_ERROR",
    "the database refused a write",
  ],
  [/^(BUSY|LOCKED)/, "STORE_UNAVAILABLE", "the database is locked"],
  [/^FULL/, "STORE_UNAVAILABLE", "the disk of the database is full"],
  [/^READONLY/, "STORE_UNAVAILABLE", "the database cannot be written to"],
  [/^CANTOPEN/, "STORE_UNAVAILABLE", "the database file cannot be opened"],
  [/^/, "STORE_UNAVAILABLE", "the database does not answer"],
];

/**
 * What a caller gets to see of an error of the driver: never the error itself, whose text others have written.
 *
 * @param outcome - What is known of the write that failed.
 * @returns Errors that are not SQLite's, as they are.
 */
export function translateError(error: unknown, outcome: "not-applied" | "unknown"): unknown {
  const sqlite = sqliteCode(error);
  const meaning = MEANINGS.find(([codes]) => sqlite !== null && codes.test(sqlite.slice(7)));
  if (meaning === undefined) return error;
  const [, code, message] = meaning;
  const options = code === "STORE_UNAVAILABLE" ? { outcome } : {};
  return new LatchkeyError(code, `${message} (${sqlite})`, options);
}
