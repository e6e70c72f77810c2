import { type EpochMs, unavailable } from "@latchkey/core";
import { fileOf, type SqliteDatabase } from "./database.js";
import { isBusy, translateError } from "./errors.js";
import { FileWatch } from "./file-watch.js";
import { Log } from "./log.js";
import { Memo } from "./memo.js";
import { Names } from "./names.js";
import { type Statements, statementsOf } from "./statements.js";

/** A database and everything that is cached of it. Stores on the same database share it, so that they see each other's charges. */
export class Connection {
  readonly database: SqliteDatabase;
  readonly run: Statements;
  readonly memo: Memo;
  readonly names: Names;
  readonly log: Log;
  /** No later than the earliest end of all stored windows, requests and ends of holds, past or future; 0 while nothing is known. */
  firstEndAt: EpochMs = 0;
  readonly #watch: FileWatch | null;
  readonly #inTransaction;

  constructor(database: SqliteDatabase) {
    this.database = database;
    this.run = statementsOf(database);
    this.names = new Names(this.run);
    this.memo = new Memo(this.run, this.names, database);
    this.log = new Log(database);
    this.#watch = database.memory ? null : new FileWatch(database.name, fileOf(database));
    this.#inTransaction = database.transaction((work: () => unknown) => {
      this.memo.confirm();
      return work();
    });
  }

  /**
   * @param isDurable - Checks the file in any case: data that must survive a power cut never goes into a deleted file.
   * @throws LatchkeyError `STORE_UNAVAILABLE` while the connection cannot be used.
   */
  assertUsable(isDurable: boolean): void {
    if (!this.database.open) throw unavailable("the database was closed by its owner");
    if (this.database.inTransaction)
      throw unavailable(
        "the database that you passed in is inside a transaction of its owner: end it first, or pass in a separate connection",
      );
    this.#watch?.look(isDurable);
  }

  /** Runs several reads on one snapshot, in which it first confirms the memo. */
  snapshot<Result>(work: () => Result): Result {
    return this.#inTransaction(work) as Result;
  }

  /**
   * Runs the work in a transaction that holds the write lock from its start, and in which it first confirms the memo. Rolls back if the
   * work throws. Throws `SQLITE_BUSY` before the work if another connection holds the lock.
   */
  write<Result>(work: () => Result): Result {
    let [isBegun, isDone] = [false, false];
    const change = () => {
      isBegun = true;
      this.memo.tellCopies();
      const result = work();
      isDone = true;
      return result;
    };
    try {
      return this.#inTransaction.immediate(change) as Result;
    } catch (error) {
      if (isBegun) {
        this.memo.beginGeneration();
        this.names.forget();
        this.firstEndAt = 0;
      }
      // Part of a commit may have reached the disk: only the next start of the database can tell.
      throw isDone && !isBusy(error) ? translateError(error, "unknown") : error;
    }
  }
}

const connections = new WeakMap<SqliteDatabase, Connection>();

/** The one {@link Connection} of a database. */
export function connectionOf(database: SqliteDatabase): Connection {
  const connection = connections.get(database) ?? new Connection(database);
  connections.set(database, connection);
  return connection;
}
