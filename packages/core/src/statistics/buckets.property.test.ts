import fc from "fast-check";
import { expect, test } from "vitest";
import { COUNTED_CODES, type HourCount, STATISTICS_SPAN_MS } from "../store/statistics.js";
import {
  bucketEndAt,
  bucketStartAt,
  GRANULARITIES,
  type Granularity,
  isAllowedRange,
  toBuckets,
  type VerificationBucket,
} from "./buckets.js";

const granularity = fc.constantFrom(...GRANULARITIES);
/** From 1970 to 2100. */
const instant = fc.nat({ max: 4_102_444_800_000 });

/** A month or two of hours from some instant on, with counts in some of them. */
const counted = fc
  .tuple(
    instant,
    fc.uniqueArray(
      fc.record({
        hour: fc.nat({ max: 1_500 }),
        code: fc.constantFrom(...COUNTED_CODES),
        count: fc.integer({ min: 1, max: 1_000 }),
      }),
      { selector: ({ hour, code }) => `${hour} ${code}` },
    ),
  )
  .map(([from, counts]) => {
    const firstAt = bucketStartAt(from, "month");
    const hours = counts.map(
      ({ hour, code, count }): HourCount => ({
        hourAt: firstAt + hour * STATISTICS_SPAN_MS,
        code,
        count,
      }),
    );
    return { firstAt, endAt: firstAt + 1_501 * STATISTICS_SPAN_MS, hours };
  });

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function totals(buckets: readonly VerificationBucket[]) {
  return COUNTED_CODES.map((code) => sum(buckets.map(({ outcomes }) => outcomes[code] ?? 0)));
}

test("the sum over all buckets is the sum over all hours, at every granularity", () => {
  fc.assert(
    fc.property(counted, granularity, ({ firstAt, endAt, hours }, by) => {
      const buckets = toBuckets(hours, firstAt, endAt, by);
      const ofHours = COUNTED_CODES.map((wanted) =>
        sum(hours.filter(({ code }) => code === wanted).map(({ count }) => count)),
      );
      expect(totals(buckets)).toEqual(ofHours);
    }),
  );
});

test("a month is the sum of its days, and a day the sum of its hours", () => {
  const finer: Readonly<Record<string, Granularity>> = { month: "day", day: "hour" };
  fc.assert(
    fc.property(counted, fc.constantFrom("month", "day"), ({ firstAt, endAt, hours }, by) => {
      for (const bucket of toBuckets(hours, firstAt, endAt, by as Granularity)) {
        const { time } = bucket;
        const parts = toBuckets(
          hours,
          time,
          bucketEndAt(time, by as Granularity),
          finer[by] as Granularity,
        );
        expect(totals(parts)).toEqual(totals([bucket]));
      }
    }),
    { numRuns: 50 },
  );
});

test("buckets follow each other without a gap and hold the whole range", () => {
  fc.assert(
    fc.property(
      instant,
      fc.integer({ min: 1, max: 31 * 86_400_000 }),
      granularity,
      (from, length, by) => {
        const buckets = toBuckets([], from, from + length, by);
        expect(buckets[0]?.time).toBe(bucketStartAt(from, by));
        for (const [index, { time }] of buckets.entries()) {
          expect(bucketStartAt(time, by)).toBe(time);
          if (index > 0) expect(time).toBe(bucketEndAt(buckets[index - 1]?.time as number, by));
        }
        const last = buckets.at(-1)?.time as number;
        expect(last).toBeLessThan(from + length);
        expect(bucketEndAt(last, by)).toBeGreaterThanOrEqual(from + length);
      },
    ),
  );
});

test("the older field names show three of the outcomes", () => {
  fc.assert(
    fc.property(counted, ({ firstAt, endAt, hours }) => {
      for (const bucket of toBuckets(hours, firstAt, endAt, "day")) {
        const { VALID = 0, RATE_LIMITED = 0, USAGE_EXCEEDED = 0 } = bucket.outcomes;
        expect([bucket.success, bucket.rateLimited, bucket.usageExceeded]).toEqual([
          VALID,
          RATE_LIMITED,
          USAGE_EXCEEDED,
        ]);
      }
    }),
    { numRuns: 50 },
  );
});

test("no range that is allowed has more buckets than fit its bound", () => {
  const most = { hour: 31 * 24 + 1, day: 367, month: 121 };
  fc.assert(
    fc.property(instant, fc.nat({ max: 4_000 * 86_400_000 }), granularity, (from, length, by) => {
      fc.pre(isAllowedRange(from, from + length, by));
      expect(toBuckets([], from, from + length, by).length).toBeLessThanOrEqual(most[by]);
    }),
  );
});
