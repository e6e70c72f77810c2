import { badRequest, LatchkeyError } from "../errors.js";
import type { AppliedCharge } from "../store/charge.js";
import type { EpochMs } from "../time.js";
import type { VerifyDecision } from "./decision.js";
import type { VerifiableKey } from "./loaded-key.js";
import type { LimitRequest } from "./question.js";
import { type VerifyOutcome, verdictOf } from "./verdict.js";

const CODE_BY_CHARGE = {
  charged: "VALID",
  "rate-limited": "RATE_LIMITED",
  "usage-exceeded": "USAGE_EXCEEDED",
} as const;

/**
 * The verdict on a decision that the store has confirmed.
 *
 * @param requested - Limits that the request names, for the place of one that is unknown.
 * @throws LatchkeyError `FORBIDDEN` for a disabled workspace, `BAD_REQUEST` for limits that nothing configures.
 */
export function concludeVerification(
  loaded: VerifiableKey,
  decision: VerifyDecision,
  charge: AppliedCharge,
  now: EpochMs,
  requested: readonly LimitRequest[],
): VerifyOutcome {
  switch (decision.kind) {
    case "workspace-disabled":
      throw new LatchkeyError("FORBIDDEN", "workspace is disabled", {
        reason: "workspace-disabled",
      });
    case "unknown-limits":
      throw unknownLimits(requested, decision.names);
    case "refuse":
      return verdictOf(loaded, decision.code, charge, now);
    case "charge":
      return verdictOnCharge(loaded, charge, now);
    default:
      return decision satisfies never;
  }
}

/** The verdict on a charge that the records did not refuse. */
export function verdictOnCharge(
  loaded: VerifiableKey,
  charge: AppliedCharge,
  now: EpochMs,
): VerifyOutcome {
  return verdictOf(loaded, CODE_BY_CHARGE[charge.kind], charge, now);
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
