import { corruptRecord } from "../errors.js";
import { isWhole } from "../lib/whole.js";
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

/** Length of the span that one sum covers, in ms: an hour of UTC. */
export const STATISTICS_SPAN_MS: SpanMs = 3_600_000;

/** What verifications are counted for. */
export interface StatisticsSubject {
  readonly kind: "key" | "identity" | "api";
  readonly id: string;
}

/** Verifications of one hour that count under one code. */
export interface HourCount {
  /** Start of the hour, Unix epoch ms: a multiple of {@link STATISTICS_SPAN_MS}. */
  readonly hourAt: EpochMs;
  readonly code: CountedCode;
  /** A whole number >= 1. */
  readonly count: number;
}

/** A sum as a store keeps it. @throws LatchkeyError `STORE_CORRUPT` where it cannot be one that was written. */
export function hourCount(hourAt: unknown, code: unknown, count: unknown): HourCount {
  const isCode = COUNTED_CODES.includes(code as CountedCode);
  if (!isCode || !isWhole(hourAt) || !isWhole(count)) throw corruptRecord("statistics");
  return { hourAt, code: code as CountedCode, count };
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

/** Which sums are wanted: of one subject, in the hours from `startAt`, included, to `endAt`, not included. */
export interface StatisticsRange {
  readonly subject: StatisticsSubject;
  /** Unix epoch ms. */
  readonly startAt: EpochMs;
  /** Unix epoch ms. */
  readonly endAt: EpochMs;
}

/** How much of a bounded step is done. */
export interface DeletedCount {
  readonly deleted: number;
  /** Whether there was more than one step may take: call again. */
  readonly hasMore: boolean;
}
