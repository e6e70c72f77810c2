import { LatchkeyError, unavailable } from "@latchkey/core";

/**
 * The result code of an SQLite error, such as `SQLITE_BUSY_SNAPSHOT`; null for every other error. The error need not be an `Error` here: Jest
 * gives each test file classes of its own, and better-sqlite3 keeps those of the first.
 */
function sqliteCode(error: unknown): string | null {
  const { code }: { readonly code?: unknown } = Object(error);
  return typeof code === "string" && code.startsWith("SQLITE_") ? code : null;
}

/** Whether a lock of another connection was the reason: the same call may succeed in a moment. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(sqliteCode(error) ?? "");
}

/** By the group of the SQLite code: its second word. */
const DAMAGED: Readonly<Record<string, string>> = {
  NOTADB: "the file is not a SQLite database: give another path, or restore a backup",
  CORRUPT: "the database file is damaged: restore it from a backup",
  ERROR: "the tables of the database are not those that latchkey created",
};
const NO_LOCKS =
  "cannot be shared by processes on its file system: keep it on a local disk, not on a network share or in a shared folder";
/** By the code without `SQLITE_`, or by its group. */
const UNUSABLE: Readonly<Record<string, string>> = {
  BUSY: "is locked: another process is writing to it, or was stopped in the middle of a write",
  LOCKED: "is locked",
  FULL: "has no space left on its disk",
  READONLY:
    "cannot be written to: let this process write to its file, and do not pass in a database that is readonly or query_only",
  READONLY_DIRECTORY:
    "cannot be written to: let this process write to its directory, where SQLite keeps two more files",
  IOERR:
    "could not be read or written: its disk or its file system failed, or changed under the open file",
  IOERR_SHMSIZE: "has no space left on its disk",
  IOERR_SHMMAP: NO_LOCKS,
  IOERR_SHMLOCK: NO_LOCKS,
  IOERR_LOCK: NO_LOCKS,
  CANTOPEN: "cannot be opened: let this process read and write its file and its directory",
};

/** The error that a caller gets instead of the driver's, whose text may contain anything. Other errors are returned unchanged. */
export function translateError(error: unknown, outcome: "not-applied" | "unknown"): unknown {
  if (error instanceof TypeError && /connection is busy executing a query/.test(error.message))
    return unavailable(
      "the database that you passed in is busy with a query of its owner (iterate): end it first, or pass in a separate connection",
    );
  const code = sqliteCode(error);
  if (code === null) return error;
  const group = code.split("_")[1] ?? "";
  const damage = DAMAGED[group];
  if (damage !== undefined) return new LatchkeyError("STORE_CORRUPT", `${damage} (${code})`);
  if (["CONSTRAINT", "MISMATCH", "TOOBIG", "RANGE", "MISUSE"].includes(group))
    return new LatchkeyError("INTERNAL_SERVER_ERROR", `the database refused a write (${code})`);
  const why = UNUSABLE[code.slice("SQLITE_".length)] ?? UNUSABLE[group] ?? "does not answer";
  return unavailable(`the database ${why} (${code})`, outcome);
}
