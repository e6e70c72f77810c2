import { corruptRecord } from "../errors.js";
import { isWhole } from "../lib/whole.js";
import { KIND_CODE } from "../records/stored-record.js";
import type { EpochMs, SpanMs } from "../time.js";
import type { RecordAddress } from "./change.js";

/**
 * What is counted: every verdict on a key that was found, and as `SHADOW_LIMITED`, beside its own verdict, each verification in which
 * a shadow had no room.
 */
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
 * What sums are kept of: verdicts, and where the uses that valid verifications took are not one for each: `EXTRA_USES` are those beyond one,
 * and uses that a reservation came to; `FREE` are valid verifications that took none.
 */
export const SUM_CODES = [...COUNTED_CODES, "EXTRA_USES", "FREE"] as const;

/** One of {@link SUM_CODES}. */
export type SumCode = (typeof SUM_CODES)[number];

/** Length of the span that one sum covers, in ms: an hour of UTC. */
export const STATISTICS_SPAN_MS: SpanMs = 3_600_000;

/** What tables hold for a kind of subject. Never changed: databases have it. */
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

/** Verifications of one hour that count under one code. */
export interface HourCount {
  /** Start of the hour, Unix epoch ms: a multiple of {@link STATISTICS_SPAN_MS}. */
  readonly hourAt: EpochMs;
  readonly code: SumCode;
  /** A whole number >= 1. */
  readonly count: number;
}

/** A sum as a store keeps it. @throws LatchkeyError `STORE_CORRUPT` where it cannot be one that was written. */
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

/** What is added to sums of one subject and hour: whole numbers >= 1. */
export type CodeSums = Readonly<Partial<Record<SumCode, number>>>;

/** What the step of a charge adds to sums: the same to those of each subject, in the hour of its moment. */
export interface ChargeCounts {
  /** No two are the same. */
  readonly subjects: readonly StatisticsSubject[];
  /**
   * By what the plan came to, `repeat` where that was charged before under the same request id. Where it was no repeat and a shadow had no
   * room, 1 is added to `SHADOW_LIMITED` as well. A plan that came to anything else adds nothing.
   */
  readonly sums: Readonly<
    Record<"charged" | "repeat" | "rate-limited" | "usage-exceeded", CodeSums>
  >;
}

/** Which sums are wanted: of one subject, in the hours from `startAt`, included, to `endAt`, not included. */
export interface StatisticsRange {
  readonly subject: StatisticsSubject;
  /** Unix epoch ms. */
  readonly startAt: EpochMs;
  /** Unix epoch ms. */
  readonly endAt: EpochMs;
}

/** Which sums are wanted: of all subjects of a kind, on one day of UTC. */
export interface StatisticsPageWant {
  readonly kind: StatisticsSubject["kind"];
  /** Start of the day, Unix epoch ms. */
  readonly dayAt: EpochMs;
  /** Ids from this one on, itself too; empty for all. */
  readonly from: string;
  /** 1 to 1,000. */
  readonly limit: number;
}

/** What {@link KeyStore.pageStatistics} answers. */
export interface StatisticsPage {
  /** In ascending order of the subject's id. */
  readonly sums: readonly SubjectCount[];
  /** Whether further subjects follow the last of these. */
  readonly hasMore: boolean;
}

/** Most sums of one subject on one day. */
export const MOST_SUMS_A_DAY = 24 * SUM_CODES.length;

/**
 * A page of whole subjects, of a store that reads sums in order and does not know where those of a subject end.
 *
 * @param sums - The first of them: all, or `limit +` {@link MOST_SUMS_A_DAY}.
 */
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

/** How much of a bounded step is done. */
export interface DeletedCount {
  readonly deleted: number;
  /** Whether there was more than one step may take: call again. */
  readonly hasMore: boolean;
}
