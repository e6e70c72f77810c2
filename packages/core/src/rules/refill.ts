import type { EpochMs, SpanMs } from "../time.js";
import { LONGEST_DURATION } from "./duration.js";

/** An interval by the calendar of UTC: `refillDay` is its day, 1 to 7 from Monday on, or 1 to 31. */
type CalendarRefill =
  | { readonly interval: "hourly"; readonly amount: number }
  | { readonly interval: "daily"; readonly amount: number }
  | { readonly interval: "weekly"; readonly amount: number; readonly refillDay: number }
  /** A month that has no such day refills on its last one. */
  | { readonly interval: "monthly"; readonly amount: number; readonly refillDay: number };

/** A span of its own: from {@link SHORTEST_REFILL} to 2^52 ms. */
export type RefillSpan = { readonly every: SpanMs };

/** How `remaining` is restored, as it is given and shown. `amount` is a whole number >= 1. */
export type RefillSetting =
  | CalendarRefill
  | { readonly interval: RefillSpan; readonly amount: number };

/** The same as a record has it: spans are counted from `from`, Unix epoch ms. */
export type Refill =
  | CalendarRefill
  | { readonly interval: RefillSpan; readonly amount: number; readonly from: EpochMs };

/** A refill with the instant it last fell due: all a store needs to apply it. */
export interface DueRefill {
  readonly amount: number;
  /** Unix epoch ms, never later than the `now` it was computed for. */
  readonly dueAt: EpochMs;
}

/** The words that an interval may be. */
export const REFILL_INTERVALS: readonly CalendarRefill["interval"][] = [
  "hourly",
  "daily",
  "weekly",
  "monthly",
];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** 1970-01-05. The epoch begins with a Thursday. */
const FIRST_MONDAY: EpochMs = 4 * DAY_MS;

/** The shortest span of a refill: a minute. */
export const SHORTEST_REFILL: SpanMs = 60_000;

/** Whether a refill may have this span: whole ms from a minute to 2^52. */
export function isRefillSpan(ms: number): boolean {
  return Number.isInteger(ms) && ms >= SHORTEST_REFILL && ms <= LONGEST_DURATION;
}

/** The last `refillDay` of the intervals that have one; the first is 1. */
export const LAST_REFILL_DAY = { weekly: 7, monthly: 31 } as const;

/** A refill as a record has it. @param from - When the key (the first of a rotated chain) or the identity was created. */
export function countedFrom(setting: RefillSetting, from: EpochMs): Refill {
  return typeof setting.interval === "object"
    ? { interval: setting.interval, amount: setting.amount, from }
    : (setting as CalendarRefill);
}

/** A refill as it is given and shown. */
export function refillSetting(refill: Refill): RefillSetting {
  return "from" in refill ? { interval: refill.interval, amount: refill.amount } : refill;
}

/**
 * The latest instant at or before `now` at which the refill fell due.
 *
 * Hourly refills fall due at the full hour of UTC, daily ones at 00:00 UTC, weekly ones at 00:00 UTC on `refillDay`, monthly ones
 * at 00:00 UTC on `refillDay`, or on the last day of a month that has no such day; those of a span at every whole multiple of
 * it after `from`. An instant exactly on the due instant is due.
 *
 * @param now - Unix epoch ms, handed in by the caller; of a refill of a span not before `from`.
 * @see packages/core/decisions/0004-refills-are-lazy.md
 */
export function latestRefillDueAt(refill: Refill, now: EpochMs): EpochMs {
  return dueAt(refill, now, 0);
}

/**
 * The first instant after `now` at which the refill falls due, or null where no date lies that far.
 *
 * At a due instant itself that refill is due already, and this answers the one after it.
 *
 * @param now - Unix epoch ms, handed in by the caller.
 */
export function nextRefillDueAt(refill: Refill, now: EpochMs): EpochMs | null {
  const since = "from" in refill ? Math.max(now, refill.from) : now;
  const at = dueAt(refill, since, 1);
  return Number.isNaN(new Date(at).getTime()) ? null : at;
}

/** The refill as data for one atomic step at `now`, or null when the key has none, or its first span is not over. */
export function dueRefill(refill: Refill | null, now: EpochMs): DueRefill | null {
  if (refill === null) return null;
  if ("from" in refill && now - refill.from < refill.interval.every) return null;
  return { amount: refill.amount, dueAt: latestRefillDueAt(refill, now) };
}

/**
 * The refill that uses have after a change. Uses without a limit need none: making them unlimited ends the refill, and so
 * does taking it away.
 *
 * @param remaining - Uses left after the change; null for unlimited.
 */
export function refillAfter(refill: Refill | null, remaining: number | null): Refill | null {
  return remaining === null ? null : refill;
}

/** @param periods - How many after the latest one at or before `now`. */
function dueAt(refill: Refill, now: EpochMs, periods: number): EpochMs {
  if ("from" in refill) return stepAt(refill.interval.every, refill.from, now, periods);
  switch (refill.interval) {
    case "hourly":
      return stepAt(HOUR_MS, 0, now, periods);
    case "daily":
      return stepAt(DAY_MS, 0, now, periods);
    case "weekly":
      return stepAt(WEEK_MS, FIRST_MONDAY + (refill.refillDay - 1) * DAY_MS, now, periods);
    case "monthly":
      return monthAt(refill.refillDay, now, periods);
    default:
      return refill satisfies never;
  }
}

/** Steps of equal length, one of them at `from`. The remainder is exact, where a quotient is rounded. */
function stepAt(every: SpanMs, from: EpochMs, now: EpochMs, periods: number): EpochMs {
  const past = (now - from) % every;
  return now - (past < 0 ? past + every : past) + periods * every;
}

function monthAt(refillDay: number, now: EpochMs, periods: number): EpochMs {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const isOver = now >= monthlyDueAt(year, month, refillDay);
  return monthlyDueAt(year, month + periods - (isOver ? 0 : 1), refillDay);
}

function monthlyDueAt(year: number, month: number, refillDay: number): EpochMs {
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(refillDay, lastDay));
}
