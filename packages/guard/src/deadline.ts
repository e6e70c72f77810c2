import type { SpanMs } from "@latchkey/core";
import { inBackground, soon } from "./background-timer.js";

/** The time that one request has to be decided. */
export interface Turn {
  /** Whether the time is over. The request was answered then, and a later result is dropped. */
  readonly isOver: boolean;
  /** Called once when the time is over. Set by a request that others wait for, or that waits itself. */
  whenOver: (() => void) | null;
}

/**
 * Runs work with a deadline, and returns its result, or the result of `late` if the work takes longer. A later result is dropped; one that
 * arrived while this process was busy, or stood still, is in time.
 *
 * @param work - Calls `settle` with its result. Must neither throw nor reject.
 * @param late - Must not throw.
 */
export type Within = <Result>(
  work: (turn: Turn, settle: (result: Result) => void) => unknown,
  late: () => Result,
) => Promise<Result>;

/** The result of a request that was not decided in time. */
const LATE = Symbol("late");

/** A pending request, linked to those before and after it. */
interface PendingTurn extends Turn {
  isOver: boolean;
  isPending: boolean;
  /** By the monotonic clock of the process, which ignores changes of the system time. */
  readonly endsAt: number;
  readonly end: () => void;
  previous: PendingTurn | null;
  next: PendingTurn | null;
}

/**
 * Creates the deadline that the requests of a guard share. One timer serves all of them: when it fires, it is set again for the oldest
 * request that is still pending. A timer per request would cost more than a verification in memory. It does not keep the process alive.
 *
 * @param timeoutMs - Whole ms, from 1 to the longest delay of a timer.
 */
export function createDeadline(timeoutMs: SpanMs): Within {
  // In order of arrival, which is also the order of deadlines. A linked list: entering and leaving takes 10 ns, against 74 ns with a Set.
  let oldest: PendingTurn | null = null;
  let newest: PendingTurn | null = null;
  let isSet = false;
  /** The time that the timer was set for, by `clock`. */
  let dueAt = 0;
  // Looked up once: the global is a getter.
  const clock = performance;

  function set(endsAt: number, ms: number): void {
    isSet = true;
    dueAt = endsAt;
    inBackground(() => soon(expire), ms);
  }

  function expire(): void {
    isSet = false;
    // A test may move timers while this clock stands still: the time that the timer was set for has come in any case.
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

  /** Returns whether it was pending. */
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
      // Not with `then` on a promise of the work, which would cost one more promise.
      work(turn, (result) => {
        if (leave(turn)) resolve(result);
      });
    })
      // In the async context of the request: the timer runs in that of another one.
      .then((result) => (result === LATE ? late() : result));
}
