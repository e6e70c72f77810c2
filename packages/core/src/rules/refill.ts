import type { EpochMs } from "../time.js";

/** How `remaining` is restored. `amount` is a whole number >= 1. */
export type Refill =
  | { readonly interval: "daily"; readonly amount: number }
  /** `refillDay`: day of the month, 1 to 31; a shorter month refills on its last day. */
  | { readonly interval: "monthly"; readonly amount: number; readonly refillDay: number };

/** A refill with the instant it last fell due: all a store needs to apply it. */
export interface DueRefill {
  /** What `remaining` rises to at most. */
  readonly amount: number;
  /** Unix epoch ms, never later than the `now` it was computed for. */
  readonly dueAt: EpochMs;
  /** Of one that carries over; absent: it brings as much as there is room for. */
  readonly carry?: CarriedRefill | undefined;
}

/** A refill that adds for each period that fell due, up to a bound. */
export interface CarriedRefill {
  /** Units that it adds at most. */
  readonly units: number;
  /** Up to when refills were applied when `units` were counted; it is owed only if they still are. Null: not counted yet. */
  readonly since: EpochMs | null;
  /** The same refill of uses to which refills are applied up to an instant. */
  readonly countedFrom: (since: EpochMs) => DueRefill;
}

const DAY_MS = 86_400_000;

/**
 * The latest instant at or before `now` at which the refill fell due.
 *
 * Daily refills fall due at 00:00 UTC, monthly ones at 00:00 UTC on `refillDay`, or on the last day of a
 * month that has no such day. An instant exactly on the due instant is due.
 *
 * @param now - Unix epoch ms, handed in by the caller.
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
  const at = dueAt(refill, now, 1);
  return Number.isNaN(new Date(at).getTime()) ? null : at;
}

/** The refill as data for one atomic step at `now`, or null when the key has none. */
export function dueRefill(refill: Refill | null, now: EpochMs): DueRefill | null {
  if (refill === null) return null;
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
  if (refill.interval === "daily") return now - (now % DAY_MS) + periods * DAY_MS;
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const isOver = now >= monthlyDueAt(year, month, refill.refillDay);
  return monthlyDueAt(year, month + periods - (isOver ? 0 : 1), refill.refillDay);
}

function monthlyDueAt(year: number, month: number, refillDay: number): EpochMs {
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(refillDay, lastDay));
}
