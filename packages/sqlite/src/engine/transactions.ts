import type { Settings } from "../options.js";
import type { Connection } from "./connection.js";
import { isBusy, sqliteCode, translateError, unavailable } from "./errors.js";
import { SYNCHRONOUS } from "./pragmas.js";
import { RetryQueue } from "./retry-queue.js";

interface Queued {
  readonly take: () => unknown;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Charges of one commit, at most, so that it stays short. */
const MAX_BATCH = 256;

/** How the work of a store is carried out: what is atomic, how it is committed, and how long it may wait. */
export class Transactions {
  readonly #connection: Connection;
  readonly #queue: RetryQueue;
  readonly #isFull: boolean;
  #batch: Queued[] = [];
  #scheduled: NodeJS.Immediate | undefined;
  #isClosed = false;

  constructor(connection: Connection, { deadlineMs, durability }: Settings) {
    this.#connection = connection;
    this.#queue = new RetryQueue(deadlineMs);
    this.#isFull = durability === "full";
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

  /** A change of what is counted: survives the process, but not always a power cut. */
  count<Result>(work: () => Result): Result | Promise<Result> {
    return this.#queue.run(() => this.#use(() => this.#connection.write(SYNCHRONOUS.NORMAL, work)));
  }

  /**
   * A change of counters, committed as the durability of the store says. With `full`, those of one turn of the event loop
   * share a transaction and a flush: each is decided on what those before it left, and answered after the commit.
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
    if (!this.#isFull) return this.count(take);
    return new Promise((resolve, reject) => {
      this.#batch.push({ take, resolve, reject });
      this.#scheduled ??= setImmediate(() => this.#commitBatch());
    });
  }

  /** @returns Whether it was open until now. Whatever waits is rejected. */
  close(): boolean {
    if (this.#isClosed) return false;
    this.#isClosed = true;
    clearImmediate(this.#scheduled);
    for (const { reject } of this.#batch.splice(0)) reject(unavailable("the store was closed"));
    this.#queue.close();
    return true;
  }

  async #commitBatch(): Promise<void> {
    const batch = this.#batch.splice(0, MAX_BATCH);
    this.#scheduled = this.#batch.length > 0 ? setImmediate(() => this.#commitBatch()) : undefined;
    const takeAll = () => this.#connection.write(SYNCHRONOUS.FULL, () => batch.map(answerOf));
    try {
      const attempt = () => this.#use(takeAll);
      for (const answer of await this.#queue.run(attempt)) answer();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  #use<Result>(work: () => Result): Result {
    if (this.#isClosed) throw unavailable("the store was closed");
    this.#connection.assertUsable();
    return work();
  }
}

/** A record that is damaged is its own charge's trouble, not that of the others: nothing was written yet. */
function answerOf({ take, resolve, reject }: Queued): () => void {
  try {
    const result = take();
    return () => resolve(result as never);
  } catch (error) {
    if (sqliteCode(error) !== null) throw error;
    return () => reject(error);
  }
}
