import type { SpanMs } from "@latchkey/core";

/** The time that one request has. */
export interface Turn {
  /** Whether it is over: nobody waits any more for what comes of it. */
  readonly isOver: boolean;
  /** Is called once when the time is over, where the request holds something up. */
  whenOver: (() => void) | null;
}

/**
 * Does some work within a time, and answers what comes of it, or of `late` where it takes longer. What comes after that is dropped.
 *
 * @param work - Must not throw at once.
 * @param late - Must not throw.
 */
export type Within = <Result>(
  work: (turn: Turn) => Promise<Result>,
  late: () => Result,
) => Promise<Result>;

/** The time of a request, and what ends it. */
interface PendingTurn extends Turn {
  isOver: boolean;
  /** By the timer of the process, which no change of a clock moves. */
  readonly endsAt: number;
  readonly end: () => void;
}

/**
 * Makes the deadline that the requests of a guard share: one timer for all of them, which is set again for the oldest that is still
 * pending when it goes off. A timer for each would cost more than a verification in memory. It keeps no process alive.
 *
 * @param timeoutMs - Whole ms >= 1, as long as a timer can be.
 */
export function createDeadline(timeoutMs: SpanMs): Within {
  // In order of their beginning, and so of their end.
  const pending = new Set<PendingTurn>();
  let isSet = false;

  function set(ms: number): void {
    isSet = true;
    const timer: { unref?: () => unknown } | number = setTimeout(expire, ms);
    // Some runtimes number their timers.
    if (typeof timer === "object") timer.unref?.();
  }

  function expire(): void {
    isSet = false;
    const now = performance.now();
    for (const turn of pending) {
      if (turn.endsAt > now) {
        set(Math.ceil(turn.endsAt - now));
        return;
      }
      pending.delete(turn);
      turn.isOver = true;
      turn.whenOver?.();
      turn.end();
    }
  }

  return (work, late) =>
    new Promise((resolve, reject) => {
      const turn: PendingTurn = {
        isOver: false,
        whenOver: null,
        endsAt: performance.now() + timeoutMs,
        end: () => resolve(late()),
      };
      pending.add(turn);
      if (!isSet) set(timeoutMs);
      work(turn).then(
        (result) => {
          if (pending.delete(turn)) resolve(result);
        },
        (error) => {
          if (pending.delete(turn)) reject(error);
        },
      );
    });
}
