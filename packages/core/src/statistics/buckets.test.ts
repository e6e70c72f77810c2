import { expect, test } from "vitest";
import { STATISTICS_SPAN_MS } from "../store/statistics.js";
import {
  bucketEndAt,
  bucketStartAt,
  type Granularity,
  isAllowedRange,
  toBuckets,
} from "./buckets.js";

const at = (text: string) => Date.parse(`${text}Z`);
const iso = (instant: number) => new Date(instant).toISOString().slice(0, -1);

test.each<{ granularity: Granularity; now: string; start: string; end: string }>([
  {
    granularity: "hour",
    now: "2026-03-10T11:59:59.999",
    start: "2026-03-10T11:00:00.000",
    end: "2026-03-10T12:00:00.000",
  },
  {
    granularity: "hour",
    now: "2026-03-10T12:00:00.000",
    start: "2026-03-10T12:00:00.000",
    end: "2026-03-10T13:00:00.000",
  },
  {
    granularity: "hour",
    now: "2026-03-10T12:00:00.001",
    start: "2026-03-10T12:00:00.000",
    end: "2026-03-10T13:00:00.000",
  },
  {
    granularity: "day",
    now: "2026-03-09T23:59:59.999",
    start: "2026-03-09T00:00:00.000",
    end: "2026-03-10T00:00:00.000",
  },
  {
    granularity: "day",
    now: "2026-03-10T00:00:00.000",
    start: "2026-03-10T00:00:00.000",
    end: "2026-03-11T00:00:00.000",
  },
  {
    granularity: "month",
    now: "2026-02-28T23:59:59.999",
    start: "2026-02-01T00:00:00.000",
    end: "2026-03-01T00:00:00.000",
  },
  {
    granularity: "month",
    now: "2024-02-29T00:00:00.000",
    start: "2024-02-01T00:00:00.000",
    end: "2024-03-01T00:00:00.000",
  },
  {
    granularity: "month",
    now: "2026-12-31T12:00:00.000",
    start: "2026-12-01T00:00:00.000",
    end: "2027-01-01T00:00:00.000",
  },
])("the $granularity of $now is from $start to $end", ({ granularity, now, start, end }) => {
  const startAt = bucketStartAt(at(now), granularity);
  expect([iso(startAt), iso(bucketEndAt(startAt, granularity))]).toEqual([start, end]);
});

const HOURS = 24 * STATISTICS_SPAN_MS;
const START = at("2026-03-10T12:34:56.789");

test.each<{ granularity: Granularity; longest: number }>([
  { granularity: "hour", longest: START + 31 * HOURS },
  { granularity: "day", longest: START + 366 * HOURS },
  { granularity: "month", longest: at("2036-03-10T12:34:56.789") },
])(
  "the longest range by $granularity is a millisecond short of too long",
  ({ granularity, longest }) => {
    const allowed = [-1, 0, 1].map((more) => isAllowedRange(START, longest + more, granularity));
    expect(allowed).toEqual([true, true, false]);
  },
);

test.each(["hour", "day", "month"] as const)(
  "a range by %s is at least a millisecond long",
  (granularity) => {
    const allowed = [-1, 0, 1].map((more) => isAllowedRange(START, START + more, granularity));
    expect(allowed).toEqual([false, false, true]);
  },
);

test("every bucket that the range touches is there, as a whole, the empty ones too", () => {
  const hours = [
    { hourAt: at("2026-03-10T00:00:00"), code: "VALID", count: 2 },
    { hourAt: at("2026-03-10T23:00:00"), code: "VALID", count: 3 },
    { hourAt: at("2026-03-12T00:00:00"), code: "RATE_LIMITED", count: 4 },
    { hourAt: at("2026-03-12T00:00:00"), code: "USAGE_EXCEEDED", count: 5 },
  ] as const;
  const end = at("2026-03-12T00:00:00.001");
  expect(toBuckets(hours, at("2026-03-10T12:00:00"), end, "day")).toEqual([
    {
      time: at("2026-03-10T00:00:00"),
      success: 5,
      rateLimited: 0,
      usageExceeded: 0,
      outcomes: { VALID: 5 },
    },
    { time: at("2026-03-11T00:00:00"), success: 0, rateLimited: 0, usageExceeded: 0, outcomes: {} },
    {
      time: at("2026-03-12T00:00:00"),
      success: 0,
      rateLimited: 4,
      usageExceeded: 5,
      outcomes: { RATE_LIMITED: 4, USAGE_EXCEEDED: 5 },
    },
  ]);
});

test("an end exactly on an edge does not touch the bucket that starts there", () => {
  const times = (end: number) => toBuckets([], START, end, "day").map(({ time }) => iso(time));
  const edge = at("2026-03-11T00:00:00");
  expect([edge - 1, edge, edge + 1].map((end) => times(end).length)).toEqual([1, 1, 2]);
});
