import type { Settings } from "../options.js";
import { ChargeBatches } from "./charge-batches.js";
import type { Connection } from "./connection.js";
import { isBusy, translateError, unavailable } from "./errors.js";
import { RetryQueue } from "./retry-queue.js";

/** How the work of a store is carried out: what is atomic, how it is committed, and how long it may wait. */
export class Transactions {
  readonly #connection: Connection;
  readonly #queue: RetryQueue;
  readonly #charges: ChargeBatches;
  #isClosed = false;

  constructor(connection: Connection, { deadlineMs, durability }: Settings) {
    this.#connection = connection;
    this.#queue = new RetryQueue(deadlineMs);
    const isFull = durability === "full";
    const write = <Result>(work: () => Result) => (isFull ? this.commit(work) : this.count(work));
    this.#charges = new ChargeBatches(write, isFull);
  }

  /** Work that writes nothing. Reads do not wait behind writes; what can stop one is the recovery of a database. */
  read<Result>(work: () => Result): Result | Promise<Result> {
    return this.#queue.run(() => this.#use(work), true);
  }

  /** A change of records: survives a power cut once it has resolved. */
  async commit<Result>(work: () => Result): Promise<Result> {
    const result = await this.#write(work, true);
    await this.#connection.log.flush();
    return result;
  }

  /** A change of what is counted: survives the process, but not always a power cut. */
  count<Result>(work: () => Result): Result | Promise<Result> {
    return this.#write(work, false);
  }

  /**
   * A change of counters, committed as the durability of the store says, and together with others. `look` answers without the
   * write lock where nothing is written; null where `take` is needed.
   */
  charge<Result>(look: () => Result | null, take: () => Result): Result | Promise<Result> {
    try {
      const answer = this.#use(look);
      if (answer !== null) return answer;
    } catch (error) {
      if (!isBusy(error)) throw translateError(error, "not-applied");
    }
    return this.#charges.add(take);
  }

  /** @returns Whether it was open until now. Whatever waits is rejected when its turn comes. */
  close(): boolean {
    const wasOpen = !this.#isClosed;
    this.#isClosed = true;
    return wasOpen;
  }

  #write<Result>(work: () => Result, isLasting: boolean): Result | Promise<Result> {
    return this.#queue.run(() => this.#use(() => this.#connection.write(work), isLasting));
  }

  #use<Result>(work: () => Result, isLasting = false): Result {
    if (this.#isClosed) throw unavailable("the store was closed");
    this.#connection.assertUsable(isLasting);
    return work();
  }
}
