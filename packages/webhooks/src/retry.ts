import type { EpochMs, SpanMs } from "@latchkey/core";

/** The longest pause between two tries. */
export const LONGEST_PAUSE_MS: SpanMs = 12 * 3_600_000;

/** How long failed events are retried, and the first pause. */
export interface RetryRule {
  readonly firstRetryMs: SpanMs;
  readonly retryForMs: SpanMs;
}

/** What is known about a failed event. */
export interface Refused {
  /** How often it was sent: 1 or more. */
  readonly tries: number;
  /** When its retry time started. */
  readonly since: EpochMs;
  /** How long the receiver asks the sender to wait. */
  readonly retryAfterMs: SpanMs;
}

/**
 * When a refused event is sent again; null: it is given up.
 *
 * Pauses double, from `firstRetryMs` to 12 hours. Each is shortened at random by up to half, so that events that failed together do not
 * come back together. The last try is at the very instant when the time is over: an event that fails then or later is given up.
 *
 * @param now - Unix epoch ms, passed in by the caller.
 * @param chance - A random number from 0, for the shortest pause, to 1.
 */
export function nextTryAt(
  { tries, since, retryAfterMs }: Refused,
  { firstRetryMs, retryForMs }: RetryRule,
  now: EpochMs,
  chance: number,
): EpochMs | null {
  const end = since + retryForMs;
  if (now >= end) return null;
  const longest = Math.min(firstRetryMs * 2 ** (tries - 1), LONGEST_PAUSE_MS);
  const pause = Math.max(Math.ceil((longest * (1 + chance)) / 2), retryAfterMs);
  return Math.min(now + pause, end);
}
