import type { KeyStore } from "@latchkey/core";
import type { SqliteDatabase } from "./database.js";
import { translateError } from "./errors.js";
import { openPath, prepareDatabase } from "./open.js";
import { parseOptions, type Settings, type SqliteStoreOptions } from "./options.js";
import { SqliteStore } from "./sqlite-store.js";

/**
 * Opens a store in a SQLite file, which is made with mode 0600 where there is none. Several processes of one
 * machine may have the same file open.
 *
 * Every method is one transaction, or one read on one snapshot. A configuration change that has resolved
 * survives a power cut, a charge as `durability` says.
 *
 * ```ts
 * const latchkey = createLatchkey({ store: sqliteStore("keys.db") });
 * ```
 *
 * @param source - Path of the file; `:memory:` for a database that ends with the process; or an open
 * better-sqlite3 `Database`, which is switched to the settings in the README, gets the tables beside its own, and
 * stays its owner's to close. It may not be inside a transaction when the store is called.
 * @throws TypeError for a wrong argument.
 * @throws LatchkeyError `PRECONDITION_FAILED` when the file is another program's, or of a newer version;
 * `STORE_CORRUPT` when it is no database; `STORE_UNAVAILABLE` when it cannot be opened.
 */
export function sqliteStore(
  source: string | SqliteDatabase,
  options: SqliteStoreOptions = {},
): KeyStore {
  const settings = parseOptions(options);
  if (typeof source === "string") {
    const database = openPath(source);
    try {
      return storeOn(database, true, settings);
    } catch (error) {
      database.close();
      throw error;
    }
  }
  if (!isDatabase(source)) {
    throw new TypeError('"source" must be a path or an open better-sqlite3 Database');
  }
  prepareDatabase(source, false);
  return storeOn(source, false, settings);
}

/** Statements are compiled here: tables that are not as they should be show themselves now. */
function storeOn(database: SqliteDatabase, isOwned: boolean, settings: Settings): KeyStore {
  try {
    return new SqliteStore(database, isOwned, settings);
  } catch (error) {
    throw translateError(error, "not-applied");
  }
}

function isDatabase(source: unknown): source is SqliteDatabase {
  if (typeof source !== "object" || source === null) return false;
  return ["prepare", "exec", "pragma"].every(
    (method) => typeof (source as Record<string, unknown>)[method] === "function",
  );
}
