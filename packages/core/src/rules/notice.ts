import { DAY_MS, type EpochMs, LAST_INSTANT, type SpanMs } from "../time.js";
import { DURATION_ERROR, durationMs } from "./duration.js";
import { isExpired } from "./keys/expiry.js";
import { type LimitFigures, mostOf } from "./limit-algorithm.js";
import { windowStartAt } from "./rate-window.js";
import { nextRefillDueAt, type Refill } from "./refill.js";

/** When something is noticed. */
export interface NoticeSettings {
  /** How long before it expires a key expires soon. */
  readonly expiresWithin: SpanMs;
  /** Below how many uses they are low: a whole number >= 1, or a share of what a refill brings, below 1; null: never. */
  readonly usesBelow: number | null;
  /** Above which share of it a limit is near: above 0, below 1. */
  readonly limitAbove: number;
  /** Whether a process writes by itself what it sees of uses and limits, and not only when `notice` is called. */
  readonly writesByItself: boolean;
}

const KNOWN_SETTINGS = ["expiresWithin", "usesBelow", "limitAbove"];

/** Reads the option `notice` of createLatchkey. @throws TypeError naming what is wrong, and its bound. */
export function readNoticeSettings(notice?: unknown): NoticeSettings {
  if (notice !== undefined && (typeof notice !== "object" || notice === null))
    throw new TypeError('"notice" must be an object of options');
  const given: Readonly<Record<string, unknown>> = { ...notice };
  const unknown = Object.keys(given).find((name) => !KNOWN_SETTINGS.includes(name));
  if (unknown !== undefined) throw new TypeError(`"notice.${unknown}" is not an option`);
  const { expiresWithin = 7 * DAY_MS, usesBelow = null, limitAbove = 0.8 } = given;
  const within = durationMs(expiresWithin);
  if (within === null) throw new TypeError(`"notice.expiresWithin" ${DURATION_ERROR}`);
  if (
    usesBelow !== null &&
    !isShare(usesBelow) &&
    !(Number.isSafeInteger(usesBelow) && isPositive(usesBelow))
  )
    throw new TypeError(
      '"notice.usesBelow" must be a whole number >= 1, or a share between 0 and 1',
    );
  if (!isShare(limitAbove))
    throw new TypeError('"notice.limitAbove" must be a share between 0 and 1');
  const writesByItself = notice !== undefined;
  return { expiresWithin: within, usesBelow, limitAbove, writesByItself };
}

function isPositive(value: unknown): value is number {
  return typeof value === "number" && value > 0;
}

function isShare(value: unknown): value is number {
  return isPositive(value) && value < 1;
}

/** What there is to notice of an expiry at `now`; null: nothing yet. */
export function noticeOfExpiry(
  expires: EpochMs,
  now: EpochMs,
  { expiresWithin }: NoticeSettings,
): "key.hasExpired" | "key.expiresSoon" | null {
  if (isExpired(expires, now)) return "key.hasExpired";
  return expires - now <= expiresWithin ? "key.expiresSoon" : null;
}

/** A share such as 0.57 of 100 is 57, whatever numbers make of it: its product is wrong by a smaller part of itself than this. */
const ROUNDED = 2 * Number.EPSILON;

/** Below how many uses they are low; 0: they never are. A share is one of what a refill brings: without one it says nothing. */
export function lowUses({ usesBelow }: NoticeSettings, refill: Refill | null): number {
  if (usesBelow === null || usesBelow >= 1) return usesBelow ?? 0;
  return refill === null ? 0 : Math.ceil(usesBelow * refill.amount * (1 - ROUNDED));
}

/** Above how many units that are taken a limit is near. */
export function nearUnits({ limitAbove }: NoticeSettings, limit: LimitFigures): number {
  return Math.floor(limitAbove * mostOf(limit) * (1 + ROUNDED));
}

/** A span in which something is noticed once. */
export interface NoticePeriod {
  readonly startAt: EpochMs;
  /** Never later than the last instant of a date. */
  readonly endAt: EpochMs;
}

/** The period of uses: from one refill to the next, or from when they were set. Without a refill a day of UTC: uses may come back at any time. */
export function periodOfUses(
  refill: Refill | null,
  refilledAt: EpochMs,
  now: EpochMs,
): NoticePeriod {
  const dayAt = windowStartAt(now, DAY_MS);
  if (refill === null) return { startAt: Math.max(dayAt, refilledAt), endAt: dayAt + DAY_MS };
  return { startAt: refilledAt, endAt: nextRefillDueAt(refill, now) ?? LAST_INSTANT };
}

/** The period of a limit: its window, or one as fixed limits have them. `at`: the start of the window of a fixed one. */
export function periodOfLimit({ algorithm, duration }: LimitFigures, at: EpochMs): NoticePeriod {
  const startAt = algorithm === "fixed" ? at : windowStartAt(at, duration);
  return { startAt, endAt: Math.min(startAt + duration, LAST_INSTANT) };
}

/** Until when it is remembered that something was noticed: for a day after its period, for clocks differ. */
export function rememberNoticedUntil({ endAt }: NoticePeriod): EpochMs {
  return Math.min(endAt + DAY_MS, LAST_INSTANT);
}
