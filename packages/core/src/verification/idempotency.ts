import { LatchkeyError } from "../errors.js";
import { sha256Text } from "../secrets/hash.js";
import type { ChargeRequest } from "../store/charge.js";
import type { EpochMs, SpanMs } from "../time.js";
import type { VerifyQuestion } from "./question.js";

/** How long the result under a request id is remembered: longer than any sensible caller goes on retrying. */
const REMEMBER_MS: SpanMs = 600_000;

/**
 * What makes the repeat of a verification harmless whose answer was lost.
 *
 * For 10 minutes the same id with the same question about the same key gets the verdict of the first time, and is
 * charged once; with another question it is a `CONFLICT`. Remembered is what got as far as charging: `VALID`,
 * `RATE_LIMITED` and `USAGE_EXCEEDED`. A verdict that follows from the key alone charges nothing and is decided anew each
 * time, so that a revocation wins over every memory. A remembered refusal stays one after its window has reset: a new
 * attempt takes a new id.
 *
 * Only digests are handed on, so that no text of a caller becomes part of a store's key names.
 *
 * @param requestId - The caller's id of the request.
 * @param question - All of it counts, the order of the limits too.
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

/** The error for a request id that was used for another question. */
export function reusedRequestId(): LatchkeyError {
  return new LatchkeyError(
    "CONFLICT",
    "this requestId was used for another question about this key",
    { reason: "request-id-reused" },
  );
}
