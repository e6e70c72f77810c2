import { setImmediate, setTimeout } from "node:timers/promises";
import { isBusy, translateError } from "./errors.js";

const MAX_DELAY_MS = 16;

/**
 * Runs what needs the write lock: at once while nobody waits, else in order of arrival, each in a turn of the event loop of its
 * own. Where another connection holds the lock, one call at a time tries again, after a random delay, until the deadline. The
 * others wait behind it: each attempt of the synchronous driver is time in which the event loop stands still.
 */
export class RetryQueue {
  readonly #deadlineMs: number;
  #waiting = 0;
  /** Settles with the last call that waits. */
  #last: Promise<unknown> = Promise.resolve();
  /** What the lock made the last attempt throw; null where it was free. */
  #obstacle: unknown = null;

  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
  }

  /** Answers or throws at once where nobody is in the way. @param attempt - Changes nothing where a lock makes it throw. */
  run<Result>(attempt: () => Result, goesFirst = false): Result | Promise<Result> {
    if (goesFirst || this.#waiting === 0) {
      try {
        return attempt();
      } catch (error) {
        if (!isBusy(error) || this.#deadlineMs === 0) throw translateError(error, "not-applied");
        this.#obstacle = error;
      }
    }
    this.#waiting += 1;
    const deadline = performance.now() + this.#deadlineMs;
    const answer = this.#last.then(() => this.#retry(attempt, deadline));
    this.#last = answer.catch(() => {});
    return answer;
  }

  async #retry<Result>(attempt: () => Result, deadline: number): Promise<Result> {
    try {
      for (let most = 1; ; most = Math.min(2 * most, MAX_DELAY_MS)) {
        if (this.#obstacle !== null && performance.now() >= deadline) throw this.#obstacle;
        if (this.#obstacle !== null) await setTimeout(Math.random() * most);
        // After a slow attempt a timer may be due in the same turn.
        await setImmediate();
        this.#obstacle = null;
        try {
          return attempt();
        } catch (error) {
          if (!isBusy(error)) throw error;
          this.#obstacle = error;
        }
      }
    } catch (error) {
      throw translateError(error, "not-applied");
    } finally {
      this.#waiting -= 1;
    }
  }
}
