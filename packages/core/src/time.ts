import { LatchkeyError } from "./errors.js";

/** An instant: whole milliseconds since the Unix epoch. */
export type EpochMs = number;

/** A span of time in whole milliseconds. */
export type SpanMs = number;

/** A day of UTC: it has no leap seconds, and no summer time. */
export const DAY_MS: SpanMs = 86_400_000;

/** The last instant that a `Date` can hold. */
export const LAST_INSTANT: EpochMs = 8_640_000_000_000_000;

/** Returns the current Unix epoch time in whole ms. */
export type Clock = () => EpochMs;

/** Returns ms since some instant, for measuring durations: it never goes back, and may return fractions. */
export type Timer = () => number;

/**
 * Wraps a clock so that it never goes back: setting back the machine's clock makes no expired key valid and reopens no window. The returned
 * clock throws like {@link checkedInstant}: nothing is decided by a broken clock.
 */
export function createMonotonicClock(read: Clock): Clock {
  let highest: EpochMs = 0;
  return () => {
    const now = checkedInstant(read());
    if (now > highest) highest = now;
    return highest;
  };
}

/** Checks the result of a clock. @throws LatchkeyError `INTERNAL_SERVER_ERROR` unless it is whole ms from 0 to {@link LAST_INSTANT}. */
export function checkedInstant(now: EpochMs): EpochMs {
  if (Number.isSafeInteger(now) && now >= 0 && now <= LAST_INSTANT) return now;
  throw new LatchkeyError(
    "INTERNAL_SERVER_ERROR",
    `"clock" must return whole milliseconds from 0 to ${LAST_INSTANT}`,
  );
}
