import { badRequest, type LatchkeyError } from "../errors.js";
import type { AppliedCharge } from "../store/charge.js";
import type { EpochMs } from "../time.js";
import { RECORD_CHECKS, type RecordCheck } from "./checks.js";
import { decideLimits } from "./limit-precedence.js";
import type { VerifiableKey } from "./loaded-key.js";
import type { VerifyQuestion } from "./question.js";
import { retryAfterMs, type Taken } from "./retry-after.js";
import { type KnownVerdict, type RefusalHints, verdictOf } from "./verdict.js";

/** Why the records refuse: the first check that fails. A disabled workspace comes before all checks. */
export type Refusal = RecordCheck | "workspace-disabled";

const CODE_BY_CHARGE = {
  charged: "VALID",
  "rate-limited": "RATE_LIMITED",
  "usage-exceeded": "USAGE_EXCEEDED",
} as const;

/** What the records decide, before any counter is read; null: no refusal. @see packages/core/decisions/0005-order-of-checks.md */
export function judgeRecords(
  loaded: VerifiableKey,
  question: VerifyQuestion,
  now: EpochMs,
): Refusal | null {
  if (!loaded.workspace.enabled) return "workspace-disabled";
  for (const check of RECORD_CHECKS) if (!check.passes(loaded, question, now)) return check;
  return null;
}

export function codeOf(refusal: Refusal): RecordCheck["code"] {
  return refusal === "workspace-disabled" ? "FORBIDDEN" : refusal.code;
}

/** The verdict if nothing was charged. `refusal`: null if a limit is unknown, which throws. `charge`: result of a `peek`. */
export function verdictOnRefusal(
  loaded: VerifiableKey,
  question: VerifyQuestion,
  refusal: Refusal | null,
  charge: AppliedCharge,
  now: EpochMs,
): KnownVerdict {
  if (refusal === null) throw unknownLimits(loaded, question);
  const hints: RefusalHints | undefined =
    refusal !== "workspace-disabled" && refusal.name === "permissions"
      ? (refusal.details(loaded, question, now) ?? {})
      : undefined;
  return verdictOf(loaded, codeOf(refusal), charge, now, undefined, hints);
}

/** The verdict on the charge of a verification that the records did not refuse. */
export function verdictOnCharge(
  loaded: VerifiableKey,
  taken: Taken,
  charge: AppliedCharge,
  now: EpochMs,
): KnownVerdict {
  const code = CODE_BY_CHARGE[charge.kind];
  if (code === "VALID") return verdictOf(loaded, code, charge, now, taken.limits);
  const wait = retryAfterMs(loaded, taken, charge, now);
  const hints = wait === null ? {} : { retryAfterMs: wait };
  return verdictOf(loaded, code, charge, now, taken.limits, hints);
}

/**
 * The error for unknown limits, by their index in the input. The question has the same order, except for an optional limit without figures:
 * that was put in front, and is in no input.
 */
function unknownLimits(loaded: VerifiableKey, { limits }: VerifyQuestion): LatchkeyError {
  const message = "must name a limit of the key or its identity, or come with limit and duration";
  const { unknown } = decideLimits(loaded, limits);
  const named = limits.filter(({ isOptional, adHoc }) => !isOptional || adHoc !== null);
  return badRequest(
    named.flatMap((limit, index) =>
      unknown.includes(limit.name) ? [{ path: `ratelimits.${index}.name`, message }] : [],
    ),
    { reason: "unknown-limit", details: { keyId: loaded.key.id } },
  );
}
