import { unavailable } from "@latchkey/core";
import type { Settings } from "../options.js";
import { ChargeBatches } from "./charge-batches.js";
import type { Connection } from "./connection.js";
import { isBusy, translateError } from "./errors.js";
import { laterTurn } from "./host-timers.js";
import { RetryQueue } from "./retry-queue.js";

/** Of so many answers that wait for nothing, one waits for the next turn of the event loop. */
const ANSWERS_IN_TURN = 1024;

/** A row of a page is about as much work as so many of these answers. */
const ANSWERS_A_ROW = 4;

/** Runs the work of a store: decides what is atomic, what waits for the disk, and how long it may wait for others. */
export class Transactions {
  readonly #connection: Connection;
  readonly #isFull: boolean;
  readonly #queue: RetryQueue;
  readonly #charges = new ChargeBatches((work) => this.write(work, this.#isFull));
  #answers = 0;
  /** Once the store is closed, waiting calls are rejected when their turn comes. */
  isClosed = false;

  constructor(connection: Connection, { deadlineMs, durability }: Settings) {
    this.#connection = connection;
    this.#isFull = durability === "full";
    this.#queue = new RetryQueue(deadlineMs);
  }

  /**
   * Work that writes nothing. Reads do not wait behind writes; only the recovery of a database can stop one.
   *
   * @param rowsOf - How many rows a result has. Default: few.
   */
  read<Result>(
    work: () => Result,
    rowsOf: (result: Result) => number = () => 0,
  ): Result | Promise<Result> {
    const counted = () => {
      const result = this.#use(work);
      this.#answers += rowsOf(result) * ANSWERS_A_ROW;
      return result;
    };
    return this.#inTurn(this.#queue.run(counted, true));
  }

  /** A change of records: once it has resolved, it survives a power cut. */
  async commit<Result>(work: () => Result): Promise<Result> {
    return this.#flushed(this.write(work, true));
  }

  /** A change of counters: survives the process, but not always a power cut. `isDurable`: whether it is flushed afterwards. */
  write<Result>(work: () => Result, isDurable = false): Result | Promise<Result> {
    return this.#queue.run(() => this.#use(() => this.#connection.write(work), isDurable));
  }

  /**
   * A change of counters, committed together with others, and as durable as the options say. `withoutLock` returns a result without the
   * write lock if nothing has to be written, and null if `charge` is needed. Default: it always is.
   */
  charge<Result>(
    charge: () => Result,
    withoutLock: () => Result | null = () => null,
  ): Result | Promise<Result> {
    try {
      const answer = this.#use(withoutLock);
      if (answer !== null) return this.#inTurn(answer);
    } catch (error) {
      if (!isBusy(error)) throw translateError(error, "not-applied");
    }
    const charged = this.#charges.add(charge);
    return this.#isFull ? this.#flushed(charged) : charged;
  }

  /** Calls that follow each other and never leave the turn would hold up everything else, such as the flush of a change. */
  #inTurn<Result>(answer: Result | Promise<Result>): Result | Promise<Result> {
    this.#answers += 1;
    if (this.#answers < ANSWERS_IN_TURN) return answer;
    this.#answers = 0;
    return laterTurn().then(() => answer);
  }

  async #flushed<Result>(written: Result | Promise<Result>): Promise<Result> {
    const result = await written;
    await this.#connection.log.flush();
    return result;
  }

  #use<Result>(work: () => Result, isDurable = false): Result {
    if (this.isClosed) throw unavailable("the store was closed");
    this.#connection.assertUsable(isDurable);
    return work();
  }
}
