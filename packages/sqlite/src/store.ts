import type { KeyStore } from "@latchkey/core";
import { answerWithoutLock, charge } from "./charge.js";
import { commit } from "./commit.js";
import { connectionOf } from "./engine/connection.js";
import type { SqliteDatabase } from "./engine/database.js";
import { translateError } from "./engine/errors.js";
import { laterTurn } from "./engine/host-timers.js";
import { openPath, prepareDatabase } from "./engine/open.js";
import { Transactions } from "./engine/transactions.js";
import { forget } from "./forget.js";
import { holdsBeside, settle } from "./holds.js";
import { parseOptions, type Settings, type SqliteStoreOptions } from "./options.js";
import { page } from "./page.js";
import { read } from "./read.js";
import { scan } from "./scan.js";
import { statisticsOf } from "./statistics.js";

/**
 * Opens a store in a SQLite file, and creates the file with mode 0600 if it does not exist. Several processes on one machine may open
 * the same file. A change that has resolved survives a power cut; `durability` decides about charges.
 *
 * ```ts
 * const latchkey = createLatchkey({ store: sqliteStore("keys.db") });
 * ```
 *
 * @param source - Path of the file; `:memory:` for a database that ends with the process; or an open better-sqlite3 `Database`
 * without an open transaction, which gets the tables and the settings in the README. You close a `Database` that you pass.
 * @throws TypeError for a wrong argument, such as a path that better-sqlite3 would trim.
 * @throws LatchkeyError `PRECONDITION_FAILED` if the file belongs to another program or a newer version, or better-sqlite3 cannot be
 * loaded; `STORE_CORRUPT` if it is not a database; `STORE_UNAVAILABLE` if it cannot be opened.
 */
export function sqliteStore(
  source: string | SqliteDatabase,
  options: SqliteStoreOptions = {},
): KeyStore {
  const settings = parseOptions(options);
  const isOwned = typeof source === "string";
  if (!isOwned && typeof source?.pragma !== "function")
    throw new TypeError('"source" must be a path or an open better-sqlite3 Database');
  let database: SqliteDatabase | undefined;
  try {
    database = isOwned ? openPath(source) : source;
    prepareDatabase(database, isOwned);
    return storeOn(database, isOwned, settings);
  } catch (error) {
    if (isOwned) database?.close();
    throw translateError(error, "not-applied");
  }
}

/** Decides what kind of step each method of the port is. The steps are in the files named after the methods. */
function storeOn(database: SqliteDatabase, isOwned: boolean, settings: Settings): KeyStore {
  const connection = connectionOf(database);
  // Removes data that was deleted before the last process was killed.
  connection.log.empty();
  const steps = new Transactions(connection, settings);
  return {
    read: async (...given) => steps.read(() => read(connection, ...given)),
    page: async (...given) =>
      steps.read(
        () => page(connection, ...given),
        ({ found }) => found.length,
      ),
    scan: async (...given) => steps.read(() => scan(connection, ...given)),
    async commit(workspaceId, change) {
      const result = await steps.commit(() => commit(connection, workspaceId, change));
      if (result.kind === "committed" && change.deletes.length > 0) connection.log.empty();
      return result;
    },
    charge: (plan, moment) =>
      steps.charge(
        () => charge(connection, plan, moment),
        () => answerWithoutLock(connection, plan, moment),
      ),
    countsInStep: true,
    // Committed together with charges, and as durable.
    async settle(...given) {
      const result = await steps.charge(() => settle(connection, ...given));
      // A step of a hundred expired holds is much work, and more steps follow: others go on in between.
      const hasMore = result.kind === "refreshed" && result.hasMore;
      if (hasMore) await laterTurn();
      return result;
    },
    holds: async (...given) => steps.read(() => holdsBeside(connection, ...given)),
    ...statisticsOf(connection, steps),
    async forget(workspaceId) {
      const next = await steps.commit(() => forget(connection, workspaceId));
      connection.log.empty();
      return next;
    },
    async close() {
      if (steps.isClosed) return;
      steps.isClosed = true;
      connection.log.emptyNow();
      connection.log.close();
      if (isOwned) database.close();
    },
  };
}
