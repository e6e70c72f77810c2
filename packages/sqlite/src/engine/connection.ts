import { LatchkeyError } from "@latchkey/core";
import { prepare, type SqliteDatabase, type SqliteStatement } from "./database.js";
import { isBusy, translateError, unavailable } from "./errors.js";
import { FileWatch } from "./file-watch.js";
import { Memo } from "./memo.js";
import { Names } from "./names.js";
import { SYNCHRONOUS } from "./pragmas.js";

/** How a transaction is committed: a value of `PRAGMA synchronous`. */
export type Synchronous = (typeof SYNCHRONOUS)[keyof typeof SYNCHRONOUS];

/**
 * What is known of one connection, whoever uses it: its current setting of `synchronous`, and what it has read and not
 * written since. One for each database that was handed in, so that two stores on it see each other.
 */
export class Connection {
  readonly database: SqliteDatabase;
  readonly memo: Memo;
  readonly names: Names;
  readonly #watch: FileWatch | null;
  readonly #begin: SqliteStatement;
  readonly #beginImmediate: SqliteStatement;
  readonly #commit: SqliteStatement;
  #synchronous: Synchronous | undefined;

  constructor(database: SqliteDatabase) {
    this.database = database;
    this.memo = new Memo(prepare(database, "PRAGMA data_version").pluck(true));
    this.names = new Names(database);
    this.#watch = database.memory ? null : new FileWatch(database.name);
    this.#begin = prepare(database, "BEGIN");
    this.#beginImmediate = prepare(database, "BEGIN IMMEDIATE");
    this.#commit = prepare(database, "COMMIT");
  }

  /** Call it after settings of the connection were set elsewhere. */
  forgetSettings(): void {
    this.#synchronous = undefined;
  }

  /** @throws LatchkeyError `STORE_UNAVAILABLE` while the connection cannot be used. */
  assertUsable(): void {
    const { database } = this;
    if (!database.open) throw unavailable("the database was closed by its owner");
    if (database.inTransaction) {
      throw unavailable(
        "the database that was handed in is inside a transaction of its owner: end it first, or hand in a connection of its own",
      );
    }
    this.#watch?.glance();
  }

  /** Runs several reads on one snapshot. */
  snapshot<Result>(work: () => Result): Result {
    this.#begin.run();
    return this.#finish(work);
  }

  /**
   * Runs the work in a transaction that holds the write lock from its start. Nothing of it stays where it throws.
   *
   * @throws SqliteError `SQLITE_BUSY` before the work begins, while another connection holds the lock.
   */
  write<Result>(synchronous: Synchronous, work: () => Result): Result {
    this.setSynchronous(synchronous);
    this.#beginImmediate.run();
    try {
      return this.#finish(work);
    } catch (error) {
      this.memo.forget();
      this.names.forget();
      throw error;
    }
  }

  /** Writes records: always through to the disk, and nothing that was kept holds any more. */
  commit<Result>(work: () => Result): Result {
    this.#watch?.look();
    try {
      return this.write(SYNCHRONOUS.FULL, work);
    } finally {
      this.memo.forget();
    }
  }

  /** Copies the log into the file and empties it, unless a reader is in the way. */
  truncateLog(): void {
    try {
      this.database.pragma("wal_checkpoint(TRUNCATE)");
    } catch {
      // What the caller wrote is committed either way; the next checkpoint does the same again.
    }
  }

  /** Sets how the next commit is made. It cannot be prepared: this pragma takes effect when it is compiled. */
  setSynchronous(synchronous: Synchronous): void {
    if (this.#synchronous === synchronous) return;
    this.#synchronous = undefined;
    this.database.pragma(`synchronous = ${synchronous}`);
    if (this.database.pragma("synchronous", { simple: true }) !== synchronous) {
      throw new LatchkeyError("STORE_UNAVAILABLE", "SQLite did not keep its durability setting", {
        outcome: "not-applied",
      });
    }
    this.#synchronous = synchronous;
  }

  #finish<Result>(work: () => Result): Result {
    let result: Result;
    try {
      result = work();
    } catch (error) {
      this.#rollback();
      throw error;
    }
    try {
      this.#commit.run();
    } catch (error) {
      this.#rollback();
      if (isBusy(error)) throw error;
      // Part of the commit may have reached the disk: only the next start of the database can tell.
      throw translateError(error, "unknown");
    }
    return result;
  }

  /** SQLite has rolled back by itself after some errors. */
  #rollback(): void {
    if (this.database.inTransaction) this.database.exec("ROLLBACK");
  }
}

const connections = new WeakMap<SqliteDatabase, Connection>();

/** The one {@link Connection} of a database. */
export function connectionOf(database: SqliteDatabase): Connection {
  const known = connections.get(database);
  if (known !== undefined) return known;
  const connection = new Connection(database);
  connections.set(database, connection);
  return connection;
}
