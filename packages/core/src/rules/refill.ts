import { ceilDiv } from "../lib/whole.js";
import { DAY_MS, type EpochMs, type SpanMs } from "../time.js";
import { LONGEST_DURATION } from "./duration.js";

/** The figures of a refill. Their sum is a safe integer. */
type Given = {
  /** A whole number >= 1. */
  readonly amount: number;
  /** How many unused uses are kept on top of `amount`: a whole number >= 1. Absent: none. */
  readonly carryOver?: number;
};

/** An interval of the UTC calendar. `refillDay`: 1 (Monday) to 7, or 1 to 31. */
type CalendarRefill = Given &
  (
    | { readonly interval: "hourly" }
    | { readonly interval: "daily" }
    | { readonly interval: "weekly"; readonly refillDay: number }
    /** A shorter month refills on its last day. */
    | { readonly interval: "monthly"; readonly refillDay: number }
  );

/** A fixed span: {@link SHORTEST_REFILL} to 2^52 ms. */
export type RefillSpan = { readonly every: SpanMs };

type SpanRefill = Given & { readonly interval: RefillSpan };

/** How `remaining` is restored, as it is given and shown. */
export type RefillSetting = CalendarRefill | SpanRefill;

/** A refill as records store it: spans are counted from `from`, Unix epoch ms. */
export type Refill = CalendarRefill | (SpanRefill & { readonly from: EpochMs });

/** A refill and when it was last due: all that a store needs to apply it. */
export interface DueRefill {
  /** `remaining` rises to at most this. */
  readonly amount: number;
  /** Unix epoch ms, never later than the `now` it was computed for. */
  readonly dueAt: EpochMs;
  /** Only with `carryOver`; absent: `remaining` rises to `amount`. */
  readonly carry?: CarriedRefill | undefined;
}

/** A refill that adds uses for each due period, up to a bound. */
export interface CarriedRefill {
  /** Most uses that it adds. */
  readonly units: number;
  /** The `refilledAt` that `units` were counted from; the refill applies only to a counter with the same. Null: not counted yet. */
  readonly since: EpochMs | null;
  /** The same refill for another `refilledAt`. */
  readonly countedFrom: (since: EpochMs) => DueRefill;
}

export const REFILL_INTERVALS: readonly CalendarRefill["interval"][] = [
  "hourly",
  "daily",
  "weekly",
  "monthly",
];

const HOUR_MS = 3_600_000;
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

/** A refill as a record stores it. `from`: when the key (the first of a rotated chain) or the identity was created. */
export function countedFrom(setting: RefillSetting, from: EpochMs): Refill {
  return typeof setting.interval === "object"
    ? { ...(setting as SpanRefill), from }
    : (setting as CalendarRefill);
}

/** A refill as callers give it and see it. */
export function refillSetting(refill: Refill): RefillSetting {
  if (!("from" in refill)) return refill;
  const { from: _, ...setting } = refill;
  return setting;
}

/**
 * The latest due instant at or before `now`.
 *
 * Hourly refills are due at each full hour, daily ones at 00:00, weekly and monthly ones at 00:00 on `refillDay` (or on the last day of a
 * shorter month), all in UTC; refills of a span, at every whole multiple of it after `from`. At exactly the due instant, the refill is due.
 *
 * @param now - Not before `from`.
 * @see packages/core/decisions/0004-refills-are-lazy.md
 */
export function latestRefillDueAt(refill: Refill, now: EpochMs): EpochMs {
  return dueAt(refill, now, 0);
}

/** The first due instant after `now` (at a due one, the next), or the one that is `times` later; null if later than any `Date`. */
export function nextRefillDueAt(refill: Refill, now: EpochMs, times: number = 1): EpochMs | null {
  const since = "from" in refill ? Math.max(now, refill.from) : now;
  const at = dueAt(refill, since, times);
  return Number.isNaN(new Date(at).getTime()) ? null : at;
}

/** The refill as data for one atomic step at `now`, or null when the key has none, or its first span is not over. */
export function dueRefill(refill: Refill | null, now: EpochMs): DueRefill | null {
  if (refill === null) return null;
  if ("from" in refill && now - refill.from < refill.interval.every) return null;
  const { amount, carryOver = 0 } = refill;
  const dueAt = latestRefillDueAt(refill, now);
  return carryOver === 0 ? { amount, dueAt } : carriedRefill(refill, dueAt, null);
}

/** `since`: instant up to which refills are applied; null if not known yet. */
function carriedRefill(refill: Refill, dueAt: EpochMs, since: EpochMs | null): DueRefill {
  const most = refill.amount + (refill.carryOver ?? 0);
  return {
    amount: most,
    dueAt,
    carry: {
      units: since === null ? 0 : usesAfterRefills(0, refill, refillsDue(refill, since, dueAt)),
      since,
      countedFrom: (instant) => carriedRefill(refill, dueAt, instant),
    },
  };
}

/** How many times the refill fell due after `since`, up to and including `now`; 0 if `now` is not later. */
export function refillsDue(refill: Refill, since: EpochMs, now: EpochMs): number {
  return Math.max(0, refillsUntil(refill, now) - refillsUntil(refill, since));
}

/**
 * Uses left after `times` refills fell due. Each adds `amount`, up to `amount` + `carryOver` uses. A number above that was granted
 * otherwise and is never lowered. With a `carryOver` of 0, one refill has the same effect as many.
 */
export function usesAfterRefills(
  left: number,
  { amount, carryOver = 0 }: Pick<Refill, "amount" | "carryOver">,
  times: number,
): number {
  const most = amount + carryOver;
  if (left >= most) return left;
  // `left + times * amount` is only computed once it is known to be below `most`: it may be too large for a whole number.
  return times >= ceilDiv(most - left, amount) ? most : left + times * amount;
}

/** How many refills it takes until at least `wanted` uses, a number above `left`, are left; null if no number is enough. */
export function refillsUntilUses(
  left: number,
  { amount, carryOver = 0 }: Pick<Refill, "amount" | "carryOver">,
  wanted: number,
): number | null {
  return wanted > amount + carryOver ? null : ceilDiv(wanted - left, amount);
}

/** The refill after a change of the uses: unlimited uses need none. */
export function refillAfter(refill: Refill | null, remaining: number | null): Refill | null {
  return remaining === null ? null : refill;
}

/** The due instant `periods` after the latest one at or before `now`. */
function dueAt(refill: Refill, now: EpochMs, periods: number): EpochMs {
  if (refill.interval === "monthly")
    return monthlyDueAt(monthsUntil(refill.refillDay, now) + periods, refill.refillDay);
  const { every, from } = stepsOf(refill);
  return from + (stepsUntil(every, from, now) + periods) * every;
}

/** The number of the latest refill at or before `now`: one more than that of the one before. Those of a span start with 1; 0: none yet. */
function refillsUntil(refill: Refill, now: EpochMs): number {
  if (refill.interval === "monthly") return monthsUntil(refill.refillDay, now);
  const { every, from } = stepsOf(refill);
  const steps = stepsUntil(every, from, now);
  return "from" in refill ? Math.max(0, steps) : steps;
}

/** Refills at equal distances. `from` is one of them, or the beginning of a span. */
interface Steps {
  readonly every: SpanMs;
  readonly from: EpochMs;
}

const HOURLY: Steps = { every: HOUR_MS, from: 0 };
const DAILY: Steps = { every: DAY_MS, from: 0 };

function stepsOf(refill: Exclude<Refill, { readonly interval: "monthly" }>): Steps {
  if ("from" in refill) return { every: refill.interval.every, from: refill.from };
  switch (refill.interval) {
    case "hourly":
      return HOURLY;
    case "daily":
      return DAILY;
    case "weekly":
      return { every: 7 * DAY_MS, from: FIRST_MONDAY + (refill.refillDay - 1) * DAY_MS };
    default:
      return refill satisfies never;
  }
}

/** Whole steps from `from` to `now`, negative before it. Exact, because a multiple is divided. */
function stepsUntil(every: SpanMs, from: EpochMs, now: EpochMs): number {
  const past = (now - from) % every;
  return (now - from - past) / every - (past < 0 ? 1 : 0);
}

/** The month in which a monthly refill last fell due, counted from January 1970 on. */
function monthsUntil(refillDay: number, now: EpochMs): number {
  const date = new Date(now);
  const month = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
  const isOver = now >= monthlyDueAt(month, refillDay);
  return isOver ? month : month - 1;
}

/** `month`: counted from January 1970 on. */
function monthlyDueAt(month: number, refillDay: number): EpochMs {
  const lastDay = new Date(Date.UTC(1970, month + 1, 0)).getUTCDate();
  return Date.UTC(1970, month, Math.min(refillDay, lastDay));
}
