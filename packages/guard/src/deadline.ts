import type { SpanMs } from "@latchkey/core";
import { inBackground } from "./background-timer.js";

/** The time that one request has. */
export interface Turn {
  /** Whether it has passed: then nobody waits for the result. */
  readonly isOver: boolean;
  /** Is called once when the time is over, where the request holds something up. */
  whenOver: (() => void) | null;
}

/**
 * Runs work with a deadline, and returns its result, or that of `late` if it takes longer. A later result is dropped.
 *
 * @param work - Calls `settle` with its result. Must neither throw nor reject.
 * @param late - Must not throw.
 */
export type Within = <Result>(
  work: (turn: Turn, settle: (result: Result) => void) => unknown,
  late: () => Result,
) => Promise<Result>;

/** In place of a result that was not there in time. */
const LATE = Symbol("late");

/** A pending request, linked to those before and after it. */
interface PendingTurn extends Turn {
  isOver: boolean;
  isPending: boolean;
  /** By the timer of the process, which no change of a clock moves. */
  readonly endsAt: number;
  readonly end: () => void;
  previous: PendingTurn | null;
  next: PendingTurn | null;
}

/**
 * Makes the deadline that the requests of a guard share: one timer for all of them, which is set again for the oldest that is still
 * pending when it goes off. A timer for each would cost more than a verification in memory. It keeps no process alive.
 *
 * @param timeoutMs - Whole ms >= 1, as long as a timer can be.
 */
export function createDeadline(timeoutMs: SpanMs): Within {
  // In order of their beginning, and so of their end. Linked: to enter and leave takes 10 ns, and 74 ns in a Set.
  let oldest: PendingTurn | null = null;
  let newest: PendingTurn | null = null;
  let isSet = false;
  /** When the timer goes off. */
  let dueAt = 0;
  // Looked up once: the global is a getter.
  const clock = performance;

  function set(endsAt: number, ms: number): void {
    isSet = true;
    dueAt = endsAt;
    inBackground(expire, ms);
  }

  function expire(): void {
    isSet = false;
    // Where a test moves timers, the clock may stand still.
    const now = Math.max(clock.now(), dueAt);
    for (let turn = oldest; turn !== null; turn = oldest) {
      if (turn.endsAt > now) {
        set(turn.endsAt, Math.ceil(turn.endsAt - now));
        return;
      }
      leave(turn);
      turn.isOver = true;
      turn.whenOver?.();
      turn.end();
    }
  }

  function enter(end: () => void): PendingTurn {
    const endsAt = clock.now() + timeoutMs;
    const previous = newest;
    const turn: PendingTurn = {
      isOver: false,
      whenOver: null,
      isPending: true,
      endsAt,
      end,
      previous,
      next: null,
    };
    newest = turn;
    if (previous === null) oldest = turn;
    else previous.next = turn;
    if (!isSet) set(endsAt, timeoutMs);
    return turn;
  }

  /** Answers whether it was pending. */
  function leave(turn: PendingTurn): boolean {
    const { isPending, previous, next } = turn;
    if (!isPending) return false;
    turn.isPending = false;
    if (previous === null) oldest = next;
    else previous.next = next;
    if (next === null) newest = previous;
    else next.previous = previous;
    return true;
  }

  return <Result>(
    work: (turn: Turn, settle: (result: Result) => void) => unknown,
    late: () => Result,
  ) =>
    new Promise<Result | typeof LATE>((resolve) => {
      const turn = enter(() => resolve(LATE));
      // Not by `then` on a promise of the work, which costs a promise more.
      work(turn, (result) => {
        if (leave(turn)) resolve(result);
      });
    })
      // In the async context of the request: the timer has that of another one.
      .then((result) => (result === LATE ? late() : result));
}
