import { badRequest, LatchkeyError } from "../errors.js";
import type { AppliedCharge } from "../store/charge.js";
import type { EpochMs } from "../time.js";
import type { VerifyDecision } from "./decision.js";
import type { LoadedKey } from "./loaded-key.js";
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
  loaded: LoadedKey,
  decision: VerifyDecision,
  charge: AppliedCharge,
  now: EpochMs,
  requested: readonly { readonly name: string }[] | undefined,
): VerifyOutcome {
  switch (decision.kind) {
    case "workspace-disabled":
      throw new LatchkeyError("FORBIDDEN", "workspace is disabled", {
        reason: "workspace-disabled",
      });
    case "unknown-limits":
      throw unknownLimits(requested ?? [], decision.names);
    case "refuse":
      return verdictOf(loaded, decision.code, charge, now);
    case "charge":
      return verdictOf(loaded, CODE_BY_CHARGE[charge.kind], charge, now);
    default:
      return decision satisfies never;
  }
}

function unknownLimits(
  requested: readonly { readonly name: string }[],
  unknown: readonly string[],
): LatchkeyError {
  const message = "must name a limit of the key or its identity, or come with limit and duration";
  return badRequest(
    requested.flatMap(({ name }, index) =>
      unknown.includes(name) ? [{ path: `ratelimits.${index}.name`, message }] : [],
    ),
  );
}
