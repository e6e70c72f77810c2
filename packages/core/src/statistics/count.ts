import type { EpochMs, SpanMs } from "../time.js";

/** Verdicts that are counted: all that a key was found for. */
export const COUNTED_CODES = [
  "VALID",
  "RATE_LIMITED",
  "USAGE_EXCEEDED",
  "DISABLED",
  "FORBIDDEN",
  "EXPIRED",
  "INSUFFICIENT_PERMISSIONS",
] as const;

/** One verdict of {@link COUNTED_CODES}. */
export type CountedCode = (typeof COUNTED_CODES)[number];

/** Length of the span that one counter covers, in ms: an hour of UTC. */
export const COUNTER_SPAN_MS: SpanMs = 3_600_000;

/** What verifications are counted for. */
export interface CountSubject {
  readonly kind: "key" | "identity" | "api";
  readonly id: string;
}

/** Verifications of one hour with one verdict. */
export interface HourCount {
  /** Start of the hour, Unix epoch ms: a multiple of {@link COUNTER_SPAN_MS}. */
  readonly hourAt: EpochMs;
  readonly code: CountedCode;
  /** A whole number >= 1. */
  readonly count: number;
}

/** What is to be added to the counters of one subject. */
export interface SubjectCount extends HourCount {
  readonly subject: CountSubject;
}

/** What one process counted since it last told the store. */
export interface VerificationBatch {
  /** Each subject, hour and code at most once. */
  readonly counts: readonly SubjectCount[];
  /** Latest use of keys, each key at most once. */
  readonly lastUsed: readonly { readonly keyId: string; readonly usedAt: EpochMs }[];
}
