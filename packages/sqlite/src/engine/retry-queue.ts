import { isBusy, translateError } from "./errors.js";

const MAX_DELAY_MS = 16;
/** How long waiting calls are served in one go before the event loop has its turn. */
const SLICE_MS = 10;

interface Waiting {
  readonly attempt: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly deadline: number;
}

/**
 * Runs what needs the write lock: at once while nobody waits, else in order of arrival. Where another connection holds the
 * lock, one call at a time tries again, after a random delay, until the deadline. The others wait behind it: each attempt of
 * the synchronous driver is time in which the event loop stands still.
 */
export class RetryQueue {
  readonly #deadlineMs: number;
  #waiting: Waiting[] = [];
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
  }

  /** Answers or throws at once where nobody is in the way. @param attempt - Changes nothing where a lock makes it throw. */
  run<Result>(attempt: () => Result, goesFirst = false): Result | Promise<Result> {
    if (goesFirst || this.#waiting.length === 0) {
      try {
        return attempt();
      } catch (error) {
        if (!isBusy(error) || this.#deadlineMs === 0) throw translateError(error, "not-applied");
      }
    }
    return new Promise((resolve, reject) => {
      const deadline = performance.now() + this.#deadlineMs;
      this.#waiting.push({ attempt, resolve, reject, deadline });
      this.#schedule();
    });
  }

  #schedule(): void {
    const delay = Math.random() * Math.min(2 ** this.#failures, MAX_DELAY_MS);
    this.#timer ??= setTimeout(() => this.#serve(), delay);
  }

  #serve(): void {
    this.#timer = undefined;
    const sliceEnd = performance.now() + SLICE_MS;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      try {
        const result = next.attempt();
        this.#failures = 0;
        next.resolve(result as never);
      } catch (error) {
        if (isBusy(error)) {
          this.#failures += 1;
          this.#rejectOverdue(error);
          break;
        }
        next.reject(translateError(error, "not-applied"));
      }
      this.#waiting.shift();
      if (performance.now() >= sliceEnd) break;
    }
    if (this.#waiting.length > 0) this.#schedule();
  }

  #rejectOverdue(error: unknown): void {
    const now = performance.now();
    for (const { deadline, reject } of this.#waiting)
      if (deadline <= now) reject(translateError(error, "not-applied"));
    this.#waiting = this.#waiting.filter(({ deadline }) => deadline > now);
  }
}
