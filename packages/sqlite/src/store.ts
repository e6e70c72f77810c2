import type { KeyStore } from "@latchkey/core";
import { Charging } from "./charge.js";
import { Committing } from "./commit.js";
import { type Connection, connectionOf } from "./engine/connection.js";
import type { SqliteDatabase } from "./engine/database.js";
import { translateError } from "./engine/errors.js";
import { openPath, prepareDatabase } from "./engine/open.js";
import { Transactions } from "./engine/transactions.js";
import { parseOptions, type Settings, type SqliteStoreOptions } from "./options.js";
import { Paging } from "./page.js";
import { Reading } from "./read.js";
import { Statistics } from "./statistics.js";

/**
 * Opens a store in a SQLite file, which is made with mode 0600 where there is none. Several processes of one machine may have
 * the same file open.
 *
 * Every method is one transaction, or one read on one snapshot. A commit that has resolved survives a power cut, a charge as
 * `durability` says.
 *
 * ```ts
 * const latchkey = createLatchkey({ store: sqliteStore("keys.db") });
 * ```
 *
 * @param source - Path of the file; `:memory:` for a database that ends with the process; or an open better-sqlite3
 * `Database`, which is switched to the settings in the README, gets the tables beside its own, and stays its owner's to
 * close. It may not be inside a transaction when the store is called.
 * @throws TypeError for a wrong argument, such as a path that better-sqlite3 would trim.
 * @throws LatchkeyError `PRECONDITION_FAILED` when the file is another program's, or of a newer version, or better-sqlite3
 * cannot be loaded; `STORE_CORRUPT` when it is no database; `STORE_UNAVAILABLE` when it cannot be opened.
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
  if (!isDatabase(source))
    throw new TypeError('"source" must be a path or an open better-sqlite3 Database');
  prepareDatabase(source, false);
  return storeOn(source, false, settings);
}

/** The port on one connection: which method is what kind of step. All else is in the files named after it. */
class SqliteStore implements KeyStore {
  readonly #connection: Connection;
  readonly #isOwned: boolean;
  readonly #steps: Transactions;
  readonly #reading: Reading;
  readonly #paging: Paging;
  readonly #committing: Committing;
  readonly #charging: Charging;
  readonly #statistics: Statistics;

  /** Compiles every statement: tables that are not as they should be show themselves now. */
  constructor(database: SqliteDatabase, isOwned: boolean, settings: Settings) {
    const connection = connectionOf(database);
    connection.forgetSettings();
    this.#connection = connection;
    this.#isOwned = isOwned;
    const { deadlineMs, durability } = settings;
    this.#steps = new Transactions(connection, deadlineMs, durability === "full");
    this.#reading = new Reading(connection);
    this.#paging = new Paging(connection);
    this.#committing = new Committing(connection);
    this.#charging = new Charging(connection);
    this.#statistics = new Statistics(connection);
  }

  read: KeyStore["read"] = async (workspaceId, wants) =>
    this.#steps.read(() => this.#reading.read(workspaceId, wants));

  page: KeyStore["page"] = async (workspaceId, want) =>
    this.#steps.read(() => this.#paging.page(workspaceId, want));

  commit: KeyStore["commit"] = async (workspaceId, change) => {
    const result = await this.#steps.commit(() => this.#committing.commit(workspaceId, change));
    // What was deleted is overwritten in the file; in the log it would stay until that is begun anew.
    if (result.kind === "committed" && change.deletes.length > 0) this.#steps.truncateLog();
    return result;
  };

  charge: KeyStore["charge"] = (plan, moment) =>
    this.#steps.charge(
      () => this.#charging.look(plan, moment),
      () => this.#charging.take(plan, moment),
    );

  addStatistics: KeyStore["addStatistics"] = async (workspaceId, batch) =>
    this.#steps.count(() => this.#statistics.add(workspaceId, batch));

  readStatistics: KeyStore["readStatistics"] = async (workspaceId, range) =>
    this.#steps.read(() => this.#statistics.read(workspaceId, range));

  deleteStatistics: KeyStore["deleteStatistics"] = async (workspaceId, beforeAt, limit) =>
    this.#steps.commit(() => this.#statistics.delete(workspaceId, beforeAt, limit));

  async close(): Promise<void> {
    if (!this.#steps.close() || !this.#isOwned) return;
    this.#connection.truncateLog();
    this.#connection.database.close();
  }
}

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
