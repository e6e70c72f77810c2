import type { EpochMs, SpanMs } from "@latchkey/core";

/** The longest pause between two tries. */
export const LONGEST_PAUSE_MS: SpanMs = 12 * 3_600_000;

/** How long failed events are retried, and the first pause. */
export interface RetryRule {
  readonly firstRetryMs: SpanMs;
  readonly retryForMs: SpanMs;
}

/** What is known of a failed event. */
export interface Refused {
  /** How often it was sent: 1 or more. */
  readonly tries: number;
  /** When its retry time started. */
  readonly since: EpochMs;
  /** How long its receiver asks not to be called. */
  readonly retryAfterMs: SpanMs;
}

/**
 * When an event is sent again that was refused; null: it is given up.
 *
 * Pauses double, from `firstRetryMs` to 12 hours, and each is shortened by chance by up to a half, so that what failed at once does not come
 * back at once. The last try is when the time is over, at that very instant: one that fails then or later is given up.
 *
 * @param now - Unix epoch ms, handed in by the caller.
 * @param chance - From 0, for the shortest pause, to 1.
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
