import { badRequest, LatchkeyError } from "../errors.js";
import { missingPermissions } from "../rules/missing-permissions.js";
import type { AppliedCharge } from "../store/charge.js";
import type { EpochMs } from "../time.js";
import type { VerifyDecision } from "./decision.js";
import type { VerifiableKey } from "./loaded-key.js";
import type { LimitRequest, VerifyQuestion } from "./question.js";
import { retryAfterMs, type Taken } from "./retry-after.js";
import { type VerifyOutcome, verdictOf } from "./verdict.js";

const CODE_BY_CHARGE = {
  charged: "VALID",
  "rate-limited": "RATE_LIMITED",
  "usage-exceeded": "USAGE_EXCEEDED",
} as const;

/**
 * The verdict on a decision that the store has confirmed.
 *
 * @throws LatchkeyError `FORBIDDEN` for a disabled workspace, `BAD_REQUEST` for limits that nothing configures.
 */
export function concludeVerification(
  loaded: VerifiableKey,
  decision: VerifyDecision,
  charge: AppliedCharge,
  now: EpochMs,
  question: Pick<VerifyQuestion, "permissions" | "cost" | "limits">,
): VerifyOutcome {
  switch (decision.kind) {
    case "workspace-disabled":
      throw new LatchkeyError("FORBIDDEN", "workspace is disabled", {
        reason: "workspace-disabled",
      });
    case "unknown-limits":
      throw unknownLimits(question.limits, decision.names);
    case "refuse":
      return decision.code === "INSUFFICIENT_PERMISSIONS"
        ? verdictOnPermissions(loaded, question, charge, now)
        : verdictOf(loaded, decision.code, charge, now);
    case "charge":
      return verdictOnCharge(loaded, { limits: decision.limits, cost: question.cost }, charge, now);
    default:
      return decision satisfies never;
  }
}

/** The verdict on a charge that the records did not refuse. */
export function verdictOnCharge(
  loaded: VerifiableKey,
  taken: Taken,
  charge: AppliedCharge,
  now: EpochMs,
): VerifyOutcome {
  const code = CODE_BY_CHARGE[charge.kind];
  if (code === "VALID") return verdictOf(loaded, code, charge, now, taken.limits);
  const wait = retryAfterMs(loaded, taken, charge, now);
  const hints = wait === null ? {} : { retryAfterMs: wait };
  return verdictOf(loaded, code, charge, now, taken.limits, hints);
}

function verdictOnPermissions(
  loaded: VerifiableKey,
  { permissions }: Pick<VerifyQuestion, "permissions">,
  charge: AppliedCharge,
  now: EpochMs,
): VerifyOutcome {
  const missing = permissions === null ? null : missingPermissions(permissions, loaded.held);
  const hints = missing === null ? {} : { missing };
  return verdictOf(loaded, "INSUFFICIENT_PERMISSIONS", charge, now, undefined, hints);
}

/** The names stand in the input as they stand here: one that may be unknown was put in front, and is in no input. */
function unknownLimits(
  requested: readonly LimitRequest[],
  unknown: readonly string[],
): LatchkeyError {
  const message = "must name a limit of the key or its identity, or come with limit and duration";
  const named = requested.filter(({ isOptional }) => !isOptional);
  return badRequest(
    named.flatMap(({ name }, index) =>
      unknown.includes(name) ? [{ path: `ratelimits.${index}.name`, message }] : [],
    ),
  );
}
