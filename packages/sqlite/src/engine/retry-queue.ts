import { isBusy, translateError } from "./errors.js";
import { laterTurn, steadyNow } from "./host-timers.js";

const MAX_DELAY_MS = 16;

/**
 * Runs work that needs the write lock: at once if nothing waits, otherwise in order of arrival, each in its own turn of the event loop.
 * While another connection holds the lock, one call at a time retries, after a random delay, until its deadline. The others wait, because
 * each attempt of the synchronous driver blocks the event loop.
 */
export class RetryQueue {
  readonly #deadlineMs: number;
  #waiting = 0;
  /** Settles with the last waiting call. */
  #last: Promise<unknown> = Promise.resolve();
  /** The lock error of the last attempt; null if the lock was free. */
  #obstacle: unknown = null;

  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
  }

  /** Returns or throws synchronously if nothing waits. `attempt`: must change nothing if it throws because of the lock. */
  run<Result>(attempt: () => Result, goesFirst = false): Result | Promise<Result> {
    const answer = goesFirst || this.#waiting === 0 ? this.#try(attempt) : null;
    if (answer !== null) return answer.result;
    this.#waiting += 1;
    const deadline = steadyNow() + this.#deadlineMs;
    const waiting = this.#last.then(() => this.#retry(attempt, deadline));
    const done = () => {
      this.#waiting -= 1;
    };
    this.#last = waiting.then(done, done);
    return waiting;
  }

  async #retry<Result>(attempt: () => Result, deadline: number): Promise<Result> {
    for (let most = 1; ; most = Math.min(2 * most, MAX_DELAY_MS)) {
      if (this.#obstacle !== null) {
        if (steadyNow() >= deadline) throw translateError(this.#obstacle, "not-applied");
        await laterTurn(Math.random() * most);
      }
      // After a slow attempt a timer may be due in the same turn.
      await laterTurn();
      const answer = this.#try(attempt);
      if (answer !== null) return answer.result;
    }
  }

  /** Null if the lock was taken. */
  #try<Result>(attempt: () => Result): { readonly result: Result } | null {
    this.#obstacle = null;
    try {
      return { result: attempt() };
    } catch (error) {
      if (!isBusy(error)) throw translateError(error, "not-applied");
      this.#obstacle = error;
      return null;
    }
  }
}
