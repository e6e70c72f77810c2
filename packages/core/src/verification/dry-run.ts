import { type OperationContext, untilFresh } from "../operations/context.js";
import type { LoadedKey } from "../records/key.js";
import type { AppliedCharge } from "../store/charge.js";
import { checksOf, type DryRunOutcome, type Look, NO_SUCH_KEY, usesSeen } from "./checks.js";
import { concludeVerification } from "./conclusion.js";
import { findKeyOf, isVisible, type VerifyScope } from "./key-lookup.js";
import {
  decideLimits,
  decideVerification,
  type LimitRequest,
  planCharge,
  type VerifyQuestion,
} from "./verify.js";

/**
 * Finds out what a verification would answer, and why, without doing it: no counter moves and nothing is remembered of it,
 * not even in this process. Records and counters are read afresh, and one look of the store confirms them.
 *
 * @param requested - Limits as the request names them.
 * @throws LatchkeyError as the verification would.
 * @see packages/core/decisions/0016-a-dry-run-leaves-no-trace.md
 */
export function dryRun(
  context: OperationContext,
  secret: string,
  question: VerifyQuestion,
  requested: readonly { readonly name: string }[] | undefined,
  scope: VerifyScope,
): Promise<DryRunOutcome> {
  const hashes = context.hasher.candidates(secret);
  return untilFresh(async () => {
    const loaded = await findKeyOf(context, secret, hashes);
    if (loaded === null || !isVisible(context, scope, loaded))
      return { valid: false, code: "NOT_FOUND", checks: NO_SUCH_KEY };
    const now = context.now();
    const decision = decideVerification(loaded, question, now);
    // With the whole cost also where the records refuse already: what lies behind is to be told, too.
    const limits = knownLimits(loaded, question.limits);
    const plan = planCharge(loaded, question, { kind: "charge", limits }, now);
    const charge = await context.store.charge({ ...plan, mode: "look" });
    if (charge.kind === "stale" || charge.kind === "conflict") return "stale";
    const look: Look = { limits, cost: question.cost, charge };
    const confirmed = decision.kind === "charge" ? charge : withoutCharge(look);
    const verdict = concludeVerification(loaded, decision, confirmed, now, requested);
    return { ...verdict, checks: checksOf(loaded, question, look, now) };
  });
}

/** The counters as a verification sees them that the records refuse: it costs nothing and names no limit. */
function withoutCharge(look: Look): AppliedCharge {
  return { kind: "charged", remaining: usesSeen(look), limits: [] };
}

/** A name that nothing configures is an error, but only of a verification that gets that far. */
function knownLimits(loaded: LoadedKey, requested: readonly LimitRequest[]): Look["limits"] {
  const decision = decideLimits(loaded, requested);
  if (decision.kind === "charge") return decision.limits;
  const unknown = decision.kind === "unknown-limits" ? decision.names : [];
  const known = requested.filter(({ name }) => !unknown.includes(name));
  return known.length < requested.length ? knownLimits(loaded, known) : [];
}
