import { LatchkeyError } from "@latchkey/core";

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

/**
 * What a caller gets to see of an error of the driver: never the error itself, whose text others have written.
 *
 * @param outcome - What is known of the write that failed.
 * @returns Errors that are not SQLite's, as they are.
 */
export function translateError(error: unknown, outcome: "not-applied" | "unknown"): unknown {
  const code = sqliteCode(error);
  if (code === null) return error;
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) {
    return new LatchkeyError(
      "STORE_CORRUPT",
      `the database file is damaged (${code}): restore it from a backup`,
    );
  }
  if (/^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE|MISUSE)/.test(code)) {
    return new LatchkeyError("INTERNAL_SERVER_ERROR", `the database refused a write (${code})`);
  }
  if (code === "SQLITE_ERROR") {
    return new LatchkeyError(
      "STORE_CORRUPT",
      "the tables of the database are not those that latchkey made",
    );
  }
  return new LatchkeyError("STORE_UNAVAILABLE", messageOf(code), { outcome });
}

function messageOf(code: string): string {
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return `the database is locked (${code})`;
  if (code.startsWith("SQLITE_FULL")) return `the disk of the database is full (${code})`;
  if (code.startsWith("SQLITE_READONLY")) return `the database cannot be written to (${code})`;
  if (code.startsWith("SQLITE_CANTOPEN")) return `the database file cannot be opened (${code})`;
  return `the database does not answer (${code})`;
}
