import type { EpochMs } from "../time.js";
import { firstFailedCheck, type RecordRefusal } from "./checks.js";
import { decideLimits, type LimitDecision } from "./limit-precedence.js";
import type { VerifiableKey } from "./loaded-key.js";
import type { VerifyQuestion } from "./question.js";

/** The records refuse, whatever the counters say. */
export type Refusal =
  | { readonly kind: "refuse"; readonly code: RecordRefusal }
  | { readonly kind: "workspace-disabled" };

/** What the records say of a question. Counters move only when the store confirms it. */
export type VerifyDecision = Refusal | LimitDecision;

/**
 * Whether the records refuse: a disabled workspace first, then the checks in their order.
 *
 * @param now - Unix epoch ms, handed in by the caller.
 */
export function refusalOf(
  loaded: VerifiableKey,
  question: VerifyQuestion,
  now: EpochMs,
): Refusal | null {
  if (!loaded.workspace.enabled) return { kind: "workspace-disabled" };
  const failed = firstFailedCheck(loaded, question, now);
  return failed === null ? null : { kind: "refuse", code: failed.code };
}

/**
 * Decides what the records say: whether they refuse, then which limits to take from.
 *
 * @param now - Unix epoch ms, handed in by the caller.
 */
export function decideVerification(
  loaded: VerifiableKey,
  question: VerifyQuestion,
  now: EpochMs,
): VerifyDecision {
  return refusalOf(loaded, question, now) ?? decideLimits(loaded, question.limits);
}
