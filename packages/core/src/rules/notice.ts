import { assertOption, nestedOptions } from "../lib/options.js";
import { isWhole } from "../lib/whole.js";
import { DAY_MS, type EpochMs, LAST_INSTANT, type SpanMs } from "../time.js";
import { DURATION_ERROR, durationMs } from "./duration.js";
import { isExpired } from "./keys/lifecycle.js";
import { mostOf } from "./limit-algorithm.js";
import type { LimitFigures } from "./limit-state.js";
import { windowStartAt } from "./rate-window.js";
import { nextRefillDueAt, type Refill } from "./refill.js";

export interface NoticeSettings {
  /** How long before its expiry a key counts as expiring soon. */
  readonly expiresWithin: SpanMs;
  /** Fewer uses than this are low: a whole number >= 1, or a share below 1 of a refill's amount; null: never. */
  readonly usesBelow: number | null;
  /** A limit is near once more than this share of it is taken: above 0, below 1. */
  readonly limitAbove: number;
  /** Whether a process writes what it sees of uses and limits by itself, and not only when `notice` is called. */
  readonly writesByItself: boolean;
}

const KNOWN_SETTINGS = ["expiresWithin", "usesBelow", "limitAbove"];

/** Reads the option `notice` of createLatchkey. @throws TypeError naming what is wrong, and its bound. */
export function readNoticeSettings(notice?: unknown): NoticeSettings {
  const options = notice === undefined ? {} : notice;
  const given = { ...nestedOptions("notice", options, KNOWN_SETTINGS, "an object of options") };
  const { expiresWithin = 7 * DAY_MS, usesBelow = null, limitAbove = 0.8 } = given;
  const within = durationMs(expiresWithin);
  assertOption(within !== null, `"notice.expiresWithin" ${DURATION_ERROR}`);
  assertOption(
    usesBelow === null || isShare(usesBelow) || isPositiveWhole(usesBelow),
    '"notice.usesBelow" must be a whole number >= 1, or a share between 0 and 1',
  );
  assertOption(isShare(limitAbove), '"notice.limitAbove" must be a share between 0 and 1');
  const writesByItself = notice !== undefined;
  return { expiresWithin: within, usesBelow, limitAbove, writesByItself };
}

function isPositiveWhole(value: unknown): value is number {
  return isWhole(value) && value > 0;
}

function isShare(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value < 1;
}

/** The notice that is due for an expiry at `now`; null: none yet. */
export function noticeOfExpiry(
  expires: EpochMs,
  now: EpochMs,
  { expiresWithin }: NoticeSettings,
): "key.hasExpired" | "key.expiresSoon" | null {
  if (isExpired(expires, now)) return "key.hasExpired";
  return expires - now <= expiresWithin ? "key.expiresSoon" : null;
}

/** Relative rounding error of a share: 0.57 of 100 must be 57, and the floating-point product is off by less than this part of itself. */
const ROUNDED = 2 * Number.EPSILON;

/** Fewer uses than this are low; 0: they never are. A share is a share of the refill's amount: without a refill, uses are never low. */
export function lowUses({ usesBelow }: NoticeSettings, refill: Refill | null): number {
  if (usesBelow === null || usesBelow >= 1) return usesBelow ?? 0;
  return refill === null ? 0 : Math.ceil(usesBelow * refill.amount * (1 - ROUNDED));
}

/** A limit is near once more units than this are taken. */
export function nearUnits({ limitAbove }: NoticeSettings, limit: LimitFigures): number {
  return Math.floor(limitAbove * mostOf(limit) * (1 + ROUNDED));
}

/** A span in which something is noticed once. */
export interface NoticePeriod {
  readonly startAt: EpochMs;
  /** Never later than the last instant of a date. */
  readonly endAt: EpochMs;
}

/** The period of uses: from a refill, or when they were set, to the next refill. Without one, a UTC day: uses may come back at any time. */
export function periodOfUses(
  refill: Refill | null,
  refilledAt: EpochMs,
  now: EpochMs,
): NoticePeriod {
  const dayAt = windowStartAt(now, DAY_MS);
  if (refill === null) return { startAt: Math.max(dayAt, refilledAt), endAt: dayAt + DAY_MS };
  return { startAt: refilledAt, endAt: nextRefillDueAt(refill, now) ?? LAST_INSTANT };
}

/** The period of a limit: for a fixed limit, its window, which starts at `at`; for others, the window that a fixed limit would have. */
export function periodOfLimit({ algorithm, duration }: LimitFigures, at: EpochMs): NoticePeriod {
  const startAt = algorithm === "fixed" ? at : windowStartAt(at, duration);
  return { startAt, endAt: Math.min(startAt + duration, LAST_INSTANT) };
}

/** Until when a notice is remembered: a day beyond its period, because clocks differ. */
export function rememberNoticedUntil({ endAt }: NoticePeriod): EpochMs {
  return Math.min(endAt + DAY_MS, LAST_INSTANT);
}
