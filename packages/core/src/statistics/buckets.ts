import {
  COUNTED_CODES,
  type CountedCode,
  type HourCount,
  STATISTICS_SPAN_MS,
  type SumCode,
} from "../store/statistics.js";
import { DAY_MS, type EpochMs, type SpanMs } from "../time.js";

/** Lengths of a bucket: hours, days and calendar months of UTC. */
export const GRANULARITIES = ["hour", "day", "month"] as const;

/** One of {@link GRANULARITIES}. */
export type Granularity = (typeof GRANULARITIES)[number];

/** Verifications of one bucket. The other counts, next to `outcomes`, are for older clients. */
export interface VerificationBucket {
  /** Start of the bucket, Unix epoch ms. */
  readonly time: EpochMs;
  /** Verdicts `VALID`. */
  readonly success: number;
  /** Verdicts `RATE_LIMITED`. */
  readonly rateLimited: number;
  /** Verdicts `USAGE_EXCEEDED`. */
  readonly usageExceeded: number;
  /** Verifications by verdict; absent: 0. `SHADOW_LIMITED`: those in which a shadow limit had no room, also counted under their verdict. */
  readonly outcomes: Readonly<Partial<Record<CountedCode, number>>>;
}

const LONGEST_MS = { hour: 31 * DAY_MS, day: 366 * DAY_MS } as const;
const LONGEST_MONTHS = 120;

const LONGEST = { hour: "31 days", day: "366 days", month: "120 months" } as const;

/** What the end of a range must be. */
export function rangeError(granularity: Granularity): string {
  return `must be later than start, and at most ${LONGEST[granularity]} after it with granularity "${granularity}"`;
}

/** Whether a range is neither empty nor longer than its granularity allows: 31 days, 366 days or 120 calendar months. */
export function isAllowedRange(
  startAt: EpochMs,
  endAt: EpochMs,
  granularity: Granularity,
): boolean {
  if (endAt <= startAt) return false;
  if (granularity !== "month") return endAt - startAt <= LONGEST_MS[granularity];
  const latest = new Date(startAt);
  return endAt <= latest.setUTCMonth(latest.getUTCMonth() + LONGEST_MONTHS);
}

/** How long after its end a bucket may still grow: counts of an hour are written soon after it, and clocks differ by at most a minute. */
const SETTLING_MS: SpanMs = 120_000;

/** The instant up to which buckets are settled: buckets that end by then no longer change. It is the end of a bucket. */
export function settledUntil(now: EpochMs, granularity: Granularity): EpochMs {
  return bucketStartAt(Math.max(0, now - SETTLING_MS), granularity);
}

/** Start of the bucket of an instant. An instant exactly on an edge belongs to the next bucket. */
export function bucketStartAt(at: EpochMs, granularity: Granularity): EpochMs {
  if (granularity === "hour") return at - (at % STATISTICS_SPAN_MS);
  if (granularity === "day") return at - (at % DAY_MS);
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

/** End of the bucket that starts at `startAt`, which is the start of the next. */
export function bucketEndAt(startAt: EpochMs, granularity: Granularity): EpochMs {
  if (granularity === "hour") return startAt + STATISTICS_SPAN_MS;
  if (granularity === "day") return startAt + DAY_MS;
  const date = new Date(startAt);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

/**
 * Sums hourly counts into all buckets, including empty ones, that the range from `startAt` (inclusive) to `endAt` (exclusive) touches, in
 * ascending order. A bucket is complete even if the range cuts it. Counts of other hours are ignored.
 */
export function toBuckets(
  hours: readonly HourCount[],
  startAt: EpochMs,
  endAt: EpochMs,
  granularity: Granularity,
): readonly VerificationBucket[] {
  const byStart = new Map<EpochMs, Partial<Record<CountedCode, number>>>();
  for (let at = bucketStartAt(startAt, granularity); at < endAt; at = bucketEndAt(at, granularity))
    byStart.set(at, {});
  for (const { hourAt, code, count } of hours) {
    const outcomes = byStart.get(bucketStartAt(hourAt, granularity));
    if (outcomes !== undefined && isCounted(code)) outcomes[code] = (outcomes[code] ?? 0) + count;
  }
  return [...byStart].map(([time, outcomes]) => ({
    time,
    success: outcomes.VALID ?? 0,
    rateLimited: outcomes.RATE_LIMITED ?? 0,
    usageExceeded: outcomes.USAGE_EXCEEDED ?? 0,
    outcomes: inOrder(outcomes),
  }));
}

/** Whether a code counts verifications, and not uses. */
export function isCounted(code: SumCode): code is CountedCode {
  return COUNTED_CODES.includes(code as CountedCode);
}

/** In the order of `COUNTED_CODES`, whatever the order of the store. */
export function inOrder(outcomes: VerificationBucket["outcomes"]): VerificationBucket["outcomes"] {
  const given = COUNTED_CODES.filter((code) => outcomes[code] !== undefined);
  return Object.fromEntries(given.map((code) => [code, outcomes[code]]));
}
