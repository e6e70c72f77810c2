import type { Settings } from "../options.js";
import type { Connection } from "./connection.js";
import { isBusy, translateError, unavailable } from "./errors.js";
import { GroupCommit } from "./group-commit.js";
import { SYNCHRONOUS } from "./pragmas.js";
import { RetryQueue } from "./retry-queue.js";

/** How the work of a store is carried out: what is atomic, how it is committed, and how long it may wait. */
export class Transactions {
  readonly #connection: Connection;
  readonly #queue: RetryQueue;
  readonly #group: GroupCommit | null;
  #isClosed = false;

  constructor(connection: Connection, { deadlineMs, durability }: Settings) {
    this.#connection = connection;
    this.#queue = new RetryQueue(deadlineMs);
    this.#group = durability === "full" ? new GroupCommit(connection, this.#queue) : null;
  }

  /** Work that writes nothing. Reads do not wait behind writes; what can stop one is the recovery of a database. */
  read<Result>(work: () => Result): Result | Promise<Result> {
    try {
      return this.#use(work);
    } catch (error) {
      if (!isBusy(error)) throw translateError(error, "not-applied");
      return this.#queue.run(() => this.#use(work));
    }
  }

  /** A change of records: survives a power cut once it has resolved. */
  commit<Result>(work: () => Result): Result | Promise<Result> {
    return this.#queue.run(() => this.#use(() => this.#connection.commit(work)));
  }

  /**
   * A change of counters, committed as the durability of the store says.
   *
   * @param look - The answer where nothing is written, without the write lock; null where `take` is needed.
   */
  charge<Result>(look: () => Result | null, take: () => Result): Result | Promise<Result> {
    try {
      const answer = this.#use(look);
      if (answer !== null) return answer;
    } catch (error) {
      if (!isBusy(error)) throw translateError(error, "not-applied");
    }
    if (this.#group !== null) return this.#group.run(take);
    return this.count(() => {
      this.#connection.memo.confirm();
      return take();
    });
  }

  /** A change of what is counted: survives the process, but not always a power cut. */
  count<Result>(work: () => Result): Result | Promise<Result> {
    return this.#queue.run(() => this.#use(() => this.#connection.write(SYNCHRONOUS.NORMAL, work)));
  }

  /** Empties the log of the file, where pages from before a change would otherwise stay for a while. */
  truncateLog(): void {
    if (!this.#isClosed && !this.#connection.database.inTransaction) this.#connection.truncateLog();
  }

  /** @returns Whether it was open until now. Whatever waits is rejected. */
  close(): boolean {
    if (this.#isClosed) return false;
    this.#isClosed = true;
    this.#group?.close();
    this.#queue.close();
    return true;
  }

  #use<Result>(work: () => Result): Result {
    if (this.#isClosed) throw unavailable("the store was closed");
    this.#connection.assertUsable();
    return work();
  }
}
