import { unref } from "../lib/promises.js";
import type { Clock, EpochMs, SpanMs } from "../time.js";
import type { KeyStore } from "./key-store.js";

/** Difference between two clocks that is reported. Windows, refills and expiries go by the clocks of the processes. */
const MAX_DIFFERENCE_MS: SpanMs = 60_000;

/** How often a store's clock is read. */
const INTERVAL_MS: SpanMs = 600_000;

/** The clock of this process differs from that of the store by more than a minute. */
export class ClockDifferenceError extends Error {
  override readonly name = "ClockDifferenceError";
  /** Ms by which this process is ahead of the store; negative if it is behind. */
  readonly differenceMs: number;

  constructor(differenceMs: number) {
    const seconds = Math.round(Math.abs(differenceMs) / 1_000);
    super(
      `the clock of this process is ${seconds} s ${differenceMs > 0 ? "ahead of" : "behind"} the store's`,
    );
    this.differenceMs = differenceMs;
  }
}

/** Compares the clocks of this process and the store every ten minutes; reports a difference of over a minute once. @returns How to stop. */
export function watchClock(
  store: Pick<KeyStore, "readClock">,
  now: Clock,
  onDifference: (error: ClockDifferenceError) => void,
): () => void {
  const timer: unknown = setInterval(() => void check(), INTERVAL_MS);
  unref(timer);
  let isStopped = false;
  const stop = (): void => {
    isStopped = true;
    clearInterval(timer as Parameters<typeof clearInterval>[0]);
  };

  async function check(): Promise<void> {
    try {
      const before = now();
      const theirs = await store.readClock?.();
      if (theirs === undefined) return;
      const difference = differenceOf(before, now(), theirs);
      // A slow reply may come after the watch was stopped, or after another one has reported.
      if (isStopped || Math.abs(difference) <= MAX_DIFFERENCE_MS) return;
      stop();
      onDifference(new ClockDifferenceError(difference));
    } catch {
      // A store that cannot be reached is not reported here: every operation reports it.
    }
  }

  void check();
  return stop;
}

/** The clock was read somewhere between the two instants: report only what is certain. */
function differenceOf(before: EpochMs, after: EpochMs, theirs: EpochMs): number {
  if (theirs < before) return before - theirs;
  return theirs > after ? after - theirs : 0;
}
