import type { Connection } from "./connection.js";
import { isBusy, translateError, unavailable } from "./errors.js";
import { GroupCommit } from "./group-commit.js";
import type { Settings } from "./options.js";
import { SYNCHRONOUS } from "./pragmas.js";
import { RetryQueue } from "./retry-queue.js";

/** How the work of a store is carried out: what is atomic, how it is committed, and how long it may wait. */
export class Transactions {
  readonly #connection: Connection;
  readonly #isFull: boolean;
  readonly #queue: RetryQueue;
  readonly #group: GroupCommit;
  #isClosed = false;

  constructor(connection: Connection, settings: Settings) {
    this.#connection = connection;
    this.#isFull = settings.durability === "full";
    this.#queue = new RetryQueue(settings.deadlineMs);
    this.#group = new GroupCommit(connection, this.#queue);
  }

  /** One statement: a snapshot of its own. */
  read<Result>(work: () => Result): Promise<Result> {
    return this.#attempt(() => {
      this.#assertUsable();
      return work();
    });
  }

  /** Several reads on one snapshot. */
  readSnapshot<Result>(work: () => Result): Promise<Result> {
    return this.#attempt(() => {
      this.#assertUsable();
      return this.#connection.snapshot(work);
    });
  }

  /** A change of configuration: survives a power cut once it has resolved. */
  configure<Result>(work: () => Result): Promise<Result> {
    return this.#queue.run(() => {
      this.#assertUsable();
      return this.#connection.configure(work);
    });
  }

  /**
   * A change of counters, committed as the durability of the store says.
   *
   * @param look - The answer where nothing is to be written, without the write lock; null where `take` is needed.
   */
  charge<Result>(look: () => Result | null, take: () => Result): Promise<Result> {
    try {
      this.#assertUsable();
      const answer = look();
      if (answer !== null) return Promise.resolve(answer);
    } catch (error) {
      if (!isBusy(error)) return Promise.reject(translateError(error, "not-applied"));
    }
    if (this.#isFull) return this.#group.run(take);
    return this.#queue.run(() =>
      this.#connection.write(SYNCHRONOUS.NORMAL, () => {
        this.#connection.memo.confirm();
        return take();
      }),
    );
  }

  /** A change of what is merely counted: survives the process, but not always a power cut. */
  count(work: () => void): Promise<void> {
    return this.#queue.run(() => {
      this.#assertUsable();
      return this.#connection.write(SYNCHRONOUS.NORMAL, work);
    });
  }

  /** Empties the log of the file, where pages from before a change would otherwise stay for a while. */
  truncateLog(): void {
    if (!this.#isClosed && !this.#connection.database.inTransaction) this.#connection.truncateLog();
  }

  /** @returns Whether it was open until now. Whatever waits is rejected. */
  close(): boolean {
    if (this.#isClosed) return false;
    this.#isClosed = true;
    this.#group.close();
    this.#queue.close();
    return true;
  }

  /** Reads do not wait behind writes; the lock that can stop one is that of a database being recovered. */
  #attempt<Result>(read: () => Result): Promise<Result> {
    try {
      return Promise.resolve(read());
    } catch (error) {
      if (!isBusy(error)) return Promise.reject(translateError(error, "not-applied"));
      return this.#queue.run(read);
    }
  }

  #assertUsable(): void {
    if (this.#isClosed) throw unavailable("the store was closed");
    this.#connection.assertUsable();
  }
}
