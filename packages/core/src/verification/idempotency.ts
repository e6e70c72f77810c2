import { conflict, type LatchkeyError } from "../errors.js";
import { sha256Text } from "../secrets/hash.js";
import type { ChargeRequest } from "../store/charge.js";
import type { EpochMs, SpanMs } from "../time.js";
import type { VerifyQuestion } from "./question.js";

/** How long the result of a request id is remembered: longer than any sensible caller retries. */
const REMEMBER_MS: SpanMs = 600_000;

/**
 * Makes it safe to repeat a verification whose reply was lost.
 *
 * For 10 minutes, the same id with the same question about the same key gets the first verdict, and is charged once; another question is a
 * `CONFLICT`. Only `VALID`, `RATE_LIMITED` and `USAGE_EXCEEDED` are remembered, because only they reach the charge. Other verdicts are
 * decided again each time, so that a revocation always wins. A remembered refusal stays one after its window has reset: use a new id for a
 * new attempt.
 *
 * Stores get only digests, so that no text of a caller becomes part of their key names.
 *
 * @param requestId - The caller's id of the request.
 * @param question - All of it is compared, including the order of the limits.
 * @see packages/core/decisions/0006-charge-is-one-atomic-step.md
 */
export function chargeRequestOf(
  requestId: string,
  question: VerifyQuestion,
  now: EpochMs,
): ChargeRequest {
  return {
    id: sha256Text(requestId),
    fingerprint: sha256Text(JSON.stringify(question)),
    rememberUntil: now + REMEMBER_MS,
  };
}

export function reusedRequestId(): LatchkeyError {
  return conflict(
    "request-id-reused",
    "this requestId was used for another question about this key",
  );
}
