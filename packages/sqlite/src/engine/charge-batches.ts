import { inLaterTurn } from "./host-timers.js";

interface Queued {
  readonly charge: () => unknown;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Most waiting charges that share a transaction, and most charges of one turn that get one of their own: a few ms of work. */
const [MAX_BATCH, MAX_AT_ONCE] = [256, 128];

/** Runs work in a transaction, which is rolled back if it throws. */
type Write = <Result>(work: () => Result) => Result | Promise<Result>;

/**
 * Gathers the charges of one turn of the event loop into one transaction, because BEGIN and COMMIT cost more than a charge. Each charge
 * is decided on the result of those before it, and returned after the commit.
 *
 * A charge that is alone in its turn need not wait for the end of the turn. Whether it is alone is known only afterwards, so a charge
 * waits if the previous turn had several, or if the lock was taken.
 */
export class ChargeBatches {
  readonly #write: Write;
  #waiting: Queued[] = [];
  #isCrowded = false;
  /** Charges of this turn so far. */
  #count = 0;

  constructor(write: Write) {
    this.#write = write;
  }

  add<Result>(charge: () => Result): Result | Promise<Result> {
    if (this.#count === 0) inLaterTurn(() => this.#endTurn());
    this.#count += 1;
    if (this.#isCrowded || this.#count > MAX_AT_ONCE)
      return new Promise((resolve, reject) => this.#waiting.push({ charge, resolve, reject }));
    const answer = this.#write(charge);
    // Not `instanceof Promise`: an instrumentation may have put a Promise of its own in its place.
    this.#isCrowded = typeof answer === "object" && answer !== null && "then" in answer;
    return answer;
  }

  #endTurn(): void {
    const batch = this.#waiting.splice(0, MAX_BATCH);
    // A batch tells more than charges that did not wait: those may have followed each other.
    if (batch.length > 0) this.#isCrowded = batch.length > 1;
    else this.#isCrowded ||= this.#count > 1;
    this.#count = this.#waiting.length;
    if (this.#count > 0) inLaterTurn(() => this.#endTurn());
    if (batch.length > 0) void this.#carryOut(batch);
  }

  async #carryOut(batch: readonly Queued[]): Promise<void> {
    let isCharging = false;
    const chargeAll = () => {
      isCharging = true;
      const results = batch.map(({ charge }) => charge());
      isCharging = false;
      return results;
    };
    try {
      const results = await this.#write(chargeAll);
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as never);
    } catch (error) {
      // Nothing was committed, and one of the charges failed: each runs alone.
      if (batch.length > 1 && isCharging) for (const each of batch) await this.#carryOut([each]);
      else for (const { reject } of batch) reject(error);
    }
  }
}
