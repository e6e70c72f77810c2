import { corruptRecord } from "../errors.js";
import { isWhole } from "../lib/whole.js";
import { KIND_CODE } from "../records/record-type.js";
import type { EpochMs, SpanMs } from "../time.js";
import type { RecordAddress } from "./change.js";

/** What is counted: every verdict on an existing key, and in addition `SHADOW_LIMITED` if a shadow limit had no room. */
export const COUNTED_CODES = [
  "VALID",
  "RATE_LIMITED",
  "USAGE_EXCEEDED",
  "DISABLED",
  "FORBIDDEN",
  "EXPIRED",
  "INSUFFICIENT_PERMISSIONS",
  "SHADOW_LIMITED",
  "NOT_STARTED",
] as const;

/** One of {@link COUNTED_CODES}. */
export type CountedCode = (typeof COUNTED_CODES)[number];

/**
 * What stores sum up: {@link COUNTED_CODES}, `EXTRA_USES` (uses beyond one per valid verification, and those of settled reservations) and
 * `FREE` (valid verifications that took no use).
 */
export const SUM_CODES = [...COUNTED_CODES, "EXTRA_USES", "FREE"] as const;

/** One of {@link SUM_CODES}. */
export type SumCode = (typeof SUM_CODES)[number];

/** Length of the span that one sum covers, in ms: an hour of UTC. */
export const STATISTICS_SPAN_MS: SpanMs = 3_600_000;

/** Numbers of the kinds in database tables. They never change. */
export const SUBJECT_CODE = {
  key: KIND_CODE.key,
  identity: KIND_CODE.identity,
  api: KIND_CODE.api,
  tag: KIND_CODE.tag,
} as const;

/** What verifications are counted for. */
export interface StatisticsSubject {
  readonly kind: keyof typeof SUBJECT_CODE;
  readonly id: string;
}

/** The count of one code in one hour. */
export interface HourCount {
  /** Start of the hour, Unix epoch ms: a multiple of {@link STATISTICS_SPAN_MS}. */
  readonly hourAt: EpochMs;
  readonly code: SumCode;
  /** A whole number >= 1. */
  readonly count: number;
}

/** Checks a sum that a store has read. @throws LatchkeyError `STORE_CORRUPT` if it is damaged. */
export function hourCount(hourAt: unknown, code: unknown, count: unknown): HourCount {
  const isCode = SUM_CODES.includes(code as SumCode);
  if (!isCode || !isWhole(hourAt) || !isWhole(count)) throw corruptRecord("statistics");
  return { hourAt, code: code as SumCode, count };
}

/** A number to add to a sum of one subject. */
export interface SubjectCount extends HourCount {
  readonly subject: StatisticsSubject;
}

/** What one process counted since its last batch. */
export interface StatisticsBatch {
  /** Each subject, hour and code at most once. */
  readonly counts: readonly SubjectCount[];
  /** Latest use of records, each record at most once. */
  readonly uses: readonly (RecordAddress & { readonly usedAt: EpochMs })[];
}

/** Numbers to add for one subject and hour: whole and >= 1. */
export type CodeSums = Readonly<Partial<Record<SumCode, number>>>;

/** What a charge adds in the same step to the sums of each subject, in the hour of its moment. */
export interface ChargeCounts {
  /** Without duplicates. */
  readonly subjects: readonly StatisticsSubject[];
  /**
   * By result; `repeat` if the same request was charged before. Unless it is a repeat, a shadow limit without room adds 1 to
   * `SHADOW_LIMITED` too. Other results add nothing.
   */
  readonly sums: Readonly<
    Record<"charged" | "repeat" | "rate-limited" | "usage-exceeded", CodeSums>
  >;
}

/** The sums of one subject in the hours from `startAt` (inclusive) to `endAt` (exclusive). */
export interface StatisticsRange {
  readonly subject: StatisticsSubject;
  /** Unix epoch ms. */
  readonly startAt: EpochMs;
  /** Unix epoch ms. */
  readonly endAt: EpochMs;
}

/** The sums of all subjects of a kind on one UTC day. */
export interface StatisticsPageWant {
  readonly kind: StatisticsSubject["kind"];
  /** Start of the day, Unix epoch ms. */
  readonly dayAt: EpochMs;
  /** The first id, inclusive; empty for all. */
  readonly from: string;
  /** 1 to 1,000. */
  readonly limit: number;
}

/** Result of {@link KeyStore.pageStatistics}. */
export interface StatisticsPage {
  /** In ascending order of the subject's id. */
  readonly sums: readonly SubjectCount[];
  /** Whether more subjects follow. */
  readonly hasMore: boolean;
}

/** Most sums of one subject on one day. */
export const MOST_SUMS_A_DAY = 24 * SUM_CODES.length;

/** Cuts sums that a store read in order into a page of whole subjects. `sums`: all, or the first `limit +` {@link MOST_SUMS_A_DAY}. */
export function wholeSubjects(sums: readonly SubjectCount[], limit: number): StatisticsPage {
  if (sums.length < limit + MOST_SUMS_A_DAY) return { sums, hasMore: false };
  const lastId = sums.at(-1)?.subject.id;
  return {
    sums: sums.slice(
      0,
      sums.findIndex(({ subject }) => subject.id === lastId),
    ),
    hasMore: true,
  };
}

/** Result of a bounded deletion. */
export interface DeletedCount {
  readonly deleted: number;
  /** Whether more is left: call again. */
  readonly hasMore: boolean;
}
