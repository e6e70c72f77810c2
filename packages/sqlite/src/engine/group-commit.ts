import type { Connection } from "./connection.js";
import { sqliteCode, unavailable } from "./errors.js";
import { SYNCHRONOUS } from "./pragmas.js";
import type { RetryQueue } from "./retry-queue.js";

interface Queued {
  readonly work: () => unknown;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** So that one commit stays short. */
const MAX_BATCH = 256;

/**
 * Charges that are written through to the disk: all of one turn of the event loop share one transaction and one flush. Each
 * is decided on what those before it left behind, and answered after the commit.
 */
export class GroupCommit {
  readonly #connection: Connection;
  readonly #queue: RetryQueue;
  #queued: Queued[] = [];
  #scheduled: NodeJS.Immediate | undefined;

  constructor(connection: Connection, queue: RetryQueue) {
    this.#connection = connection;
    this.#queue = queue;
  }

  /** @param work - One charge, in a transaction in which the memo was confirmed. */
  run<Result>(work: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#queued.push({ work, resolve, reject });
      this.#scheduled ??= setImmediate(() => this.#flush());
    });
  }

  /** Rejects what was not begun. */
  close(): void {
    clearImmediate(this.#scheduled);
    for (const { reject } of this.#queued.splice(0)) reject(unavailable("the store was closed"));
  }

  async #flush(): Promise<void> {
    const batch = this.#queued.splice(0, MAX_BATCH);
    this.#scheduled = this.#queued.length > 0 ? setImmediate(() => this.#flush()) : undefined;
    try {
      for (const answer of await this.#queue.run(() => this.#commit(batch))) answer();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  #commit(batch: readonly Queued[]): readonly (() => void)[] {
    this.#connection.assertUsable();
    return this.#connection.write(SYNCHRONOUS.FULL, () => {
      this.#connection.memo.confirm();
      return batch.map(answerOf);
    });
  }
}

/** A record that is damaged is its own charge's trouble, not that of the others: nothing was written yet. */
function answerOf({ work, resolve, reject }: Queued): () => void {
  try {
    const result = work();
    return () => resolve(result as never);
  } catch (error) {
    if (sqliteCode(error) !== null) throw error;
    return () => reject(error);
  }
}
