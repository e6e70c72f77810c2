import type { Clock, EpochMs, SpanMs } from "@latchkey/core";

/** An instant. */
export type TestInstant = EpochMs | Date;

/** A span of time, the sum of its parts: `{ days: 1, hours: 12 }`. Each is a number >= 0; together they are whole milliseconds. */
export interface TestSpan {
  readonly days?: number;
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
  readonly ms?: number;
}

/** The time of a latchkey under test. It only goes forward. */
export interface TestClock {
  /** The current instant: Unix epoch ms. */
  now(): EpochMs;
  /** Advances the time by a span, and returns the new instant. @throws TypeError for a wrong span. */
  advance(span: TestSpan): EpochMs;
  /** Advances the time to an instant, and returns it. @throws TypeError for one in the past. */
  set(instant: TestInstant): EpochMs;
}

const MS_BY_UNIT: Readonly<Record<keyof TestSpan, SpanMs>> = {
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1_000,
  ms: 1,
};

/**
 * Makes a clock for tests.
 *
 * @param start - An instant: time stands still there until it is moved. A clock: time goes as that clock goes, and moving it is
 * added on top.
 */
export function createTestClock(start: TestInstant | Clock): TestClock {
  const base = typeof start === "function" ? start : standingAt(instantOf(start, "now"));
  let ahead: SpanMs = 0;
  const now = (): EpochMs => base() + ahead;
  return {
    now,
    advance: (span) => {
      ahead += spanOf(span);
      return now();
    },
    set: (instant) => {
      const wait = instantOf(instant, "instant") - now();
      if (wait < 0)
        throw new TypeError('"instant" has passed: the time of a latchkey never goes back');
      ahead += wait;
      return now();
    },
  };
}

function standingAt(instant: EpochMs): Clock {
  return () => instant;
}

function instantOf(instant: TestInstant, name: string): EpochMs {
  const at = instant instanceof Date ? instant.getTime() : instant;
  if (Number.isSafeInteger(at) && at >= 0) return at;
  throw new TypeError(`"${name}" must be a Date or whole milliseconds since the Unix epoch`);
}

function spanOf(span: TestSpan): SpanMs {
  if (typeof span !== "object" || span === null)
    throw new TypeError('"span" must be an object such as { days: 1 }');
  let total = 0;
  for (const [unit, count] of Object.entries(span)) {
    if (!Object.hasOwn(MS_BY_UNIT, unit))
      throw new TypeError(`"${unit}" is not a unit: use days, hours, minutes, seconds or ms`);
    if (!(count >= 0)) throw new TypeError(`"${unit}" must be a number >= 0`);
    total += count * MS_BY_UNIT[unit as keyof TestSpan];
  }
  if (!Number.isSafeInteger(total)) throw new TypeError('"span" must be whole milliseconds');
  return total;
}
