import { z } from "zod";
import type { InputIssue } from "../errors.js";
import {
  DURATION_ERROR,
  DURATION_PATTERN,
  type Duration,
  durationMs,
  LONGEST_DURATION,
} from "../rules/duration.js";
import { isExpired } from "../rules/keys/lifecycle.js";
import { DAY_MS, type EpochMs, LAST_INSTANT, type SpanMs } from "../time.js";
import { orRequired, readBy, wholeNumber } from "./input.js";

const HOUR_MS = 3_600_000;

/** In ms this is in 1973, in seconds after the year 5000: a smaller number may be in seconds. */
const LEAST_IN_MS = 100_000_000_000;

/** An instant from `min` to `max`, both included: whole ms since the Unix epoch or, except over HTTP, a `Date`. The output is in ms. */
export function instant(
  min: EpochMs,
  max: EpochMs = LAST_INSTANT,
): z.ZodType<EpochMs, number | Date> {
  const error = `must be an instant from ${min} to ${max}: whole ms since the Unix epoch (or a JavaScript Date)`;
  return z.preprocess(msOfDate, wholeNumber(min, max, error)) as z.ZodType<EpochMs, number | Date>;
}

/** A span from 1 to 2^52 ms: whole ms, or a text with its unit. The output is in ms. */
export const duration = spanOf(1, LONGEST_DURATION, DURATION_ERROR);

/** A span from `min` to `max` ms, both included: whole ms, or a text with its unit. The output is in ms. */
export function spanBetween(min: SpanMs, max: SpanMs, bounds: string): z.ZodType<SpanMs, Duration> {
  const texts = max < HOUR_MS ? '"30s" or "5m"' : '"30s", "5m" or "1h"';
  return spanOf(min, max, `must be ${bounds}: whole ms, or a text such as ${texts}`);
}

/** The same with its own message. */
export function spanOf(min: SpanMs, max: SpanMs, message: string): z.ZodType<SpanMs, Duration> {
  const error = orRequired(message);
  const text = z
    .string({ error })
    .regex(DURATION_PATTERN, { error })
    .transform(readBy((value: string) => within(durationMs(value), min, max), message));
  return z.union([wholeNumber(min, max, message), text], { error }) as z.ZodType<SpanMs, Duration>;
}

function within(ms: SpanMs | null, min: SpanMs, max: SpanMs): SpanMs | null {
  return ms !== null && ms >= min && ms <= max ? ms : null;
}

/** The issue of an `expires` that is not later than now, which no schema can see. */
export function expiryIssues(
  { expires }: { readonly expires?: unknown },
  now: EpochMs,
): readonly InputIssue[] {
  const at = msOfDate(expires);
  if (typeof at !== "number" || !isExpired(at, now)) return [];
  const isOfSeconds = at > now / 1_000 && at < LEAST_IN_MS;
  const hint = isOfSeconds ? ": it is in ms, and this looks like a time in seconds" : "";
  return [{ path: "expires", message: `must be later than now${hint}` }];
}

/** Finds the issue of a past instant that is later than now, which no schema can see, for example from a wrong unit. */
export function notLaterThanNow(path: string) {
  return (raw: Readonly<Record<string, unknown>>, now: EpochMs): readonly InputIssue[] => {
    const at = msOfDate(raw[path]);
    const isLater = typeof at === "number" && at > now;
    return isLater ? [{ path, message: "must not be later than now" }] : [];
  };
}

/** The input of an operation that deletes everything before an instant. See {@link pruneIssues}. */
export const pruneInput = z.strictObject({ before: instant(0) });

/** The issue of a {@link pruneInput} that lies in the future. */
export const pruneIssues = notLaterThanNow("before");

/** The ms of a date; NaN for an invalid date and for any other object, such as a promise; any other value unchanged. */
function msOfDate(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  try {
    // Not by `instanceof`: a date of another realm (a test runner's, an iframe's) is a date too.
    return Date.prototype.getTime.call(value);
  } catch {
    // Not the object itself: a schema would treat a promise as asynchronous work and fail.
    return Number.NaN;
  }
}

/** A year: a longer grace is no rotation. */
const MAX_GRACE_MS: SpanMs = 365 * DAY_MS;

/** How long a rotated key stays valid. Default: 0. */
export const grace = spanOf(
  0,
  MAX_GRACE_MS,
  `must be a whole number of ms from 0 to ${MAX_GRACE_MS}, or the same in seconds, minutes, hours or days, such as "30s", "1m", "1h" or "1d"`,
).default(0);
