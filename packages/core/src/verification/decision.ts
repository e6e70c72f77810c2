import type { LimitCharge } from "../store/charge.js";
import type { EpochMs } from "../time.js";
import { firstFailedCheck, type RecordRefusal } from "./checks.js";
import { autoAppliedLimits, decideLimits, type LimitDecision } from "./limits.js";
import type { LoadedKey } from "./loaded-key.js";
import type { VerifyQuestion } from "./question.js";

/** What the records say of a question. Counters move only when the store confirms it. */
export type VerifyDecision =
  | { readonly kind: "refuse"; readonly code: RecordRefusal }
  | { readonly kind: "workspace-disabled" }
  | LimitDecision;

/**
 * Decides what the records say: a disabled workspace first, then the checks in their order, then which limits to take from.
 *
 * @param autoApplied - `autoAppliedLimits` of the key, where that was worked out before.
 * @param now - Unix epoch ms, handed in by the caller.
 */
export function decideVerification(
  loaded: LoadedKey,
  question: VerifyQuestion,
  now: EpochMs,
  autoApplied?: readonly LimitCharge[],
): VerifyDecision {
  if (!loaded.workspace.enabled) return { kind: "workspace-disabled" };
  const failed = firstFailedCheck(loaded, question, now);
  if (failed !== null) return { kind: "refuse", code: failed.code };
  if (question.limits.length === 0)
    return { kind: "charge", limits: autoApplied ?? autoAppliedLimits(loaded) };
  return decideLimits(loaded, question.limits);
}
