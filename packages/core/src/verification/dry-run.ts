import { withoutNull } from "../lib/without-null.js";
import { decideSpend, type UsesOwner } from "../rules/keys/spend.js";
import type { DefaultTypes, LatchkeyTypes } from "../rules/latchkey-types.js";
import { nextRefillDueAt } from "../rules/refill.js";
import type { AppliedCharge, LimitCharge, LimitReading } from "../store/charge.js";
import type { EpochMs, SpanMs } from "../time.js";
import { RECORD_CHECKS, type RecordCheckDetails, type RecordCheckName } from "./checks.js";
import { effectiveUses, type LoadedKey } from "./loaded-key.js";
import type { VerifyQuestion } from "./question.js";
import { limitRetryAfterMs, refillRetryAfterMs } from "./retry-after.js";
import { type RatelimitState, ratelimitState, type VerifyOutcome } from "./verdict.js";

/** A check that does not pass by waiting, except `start`. */
type RecordCheckOutcome = {
  [Name in RecordCheckName]: {
    /** Name of the check. */
    readonly check: Name;
    /** False: it refuses. */
    readonly passed: boolean;
  } & RecordCheckDetails[Name];
}[RecordCheckName];

/** A check that may pass later. */
interface PassingCheck {
  /** False: it refuses now. */
  readonly passed: boolean;
  /** Ms from now until the check passes if nothing else happens: a whole number >= 1. Absent if it passed, or if waiting does not help. */
  readonly retryAfterMs?: SpanMs;
}

/** One check of a verification, and what it found. Fields without a value are absent. */
export type VerdictCheck =
  /** Whether a key of this workspace has the secret. If not, this is the only check. */
  | {
      /** The first check. */
      readonly check: "exists";
      /** Whether a key of this workspace has the secret. */
      readonly passed: boolean;
    }
  | RecordCheckOutcome
  /** One for each limit that the verification takes from, in order. */
  | ({
      /** A limit. */
      readonly check: "ratelimit";
      /** Name of the limit. */
      readonly name: string;
      /** Units left, before the cost is taken. */
      readonly remaining: number;
      /** Units that the verification would take. */
      readonly cost: number;
      /** For a shadow limit, which always passes: whether it would refuse. */
      readonly exceeded?: boolean;
      /**
       * Unix epoch ms at which the whole limit is available again; for a fixed limit, at which the next window opens. Absent only if later
       * than any `Date`.
       */
      readonly reset?: EpochMs;
    } & Pick<RatelimitState, "limit" | "algorithm" | "burst" | "shadow"> &
      PassingCheck)
  | ({
      /** The last check. */
      readonly check: "uses";
      /** Whose uses they are. */
      readonly from: UsesOwner;
      /** Uses left, including a due refill, before the cost is taken. Absent when unlimited. */
      readonly remaining?: number;
      /** Uses that the verification would take. */
      readonly cost: number;
      /** Unix epoch ms of the next refill. */
      readonly nextRefillAt?: EpochMs;
    } & PassingCheck);

/** The verdict that a verification would give, with its checks. */
export type DryRunOutcome<Types extends LatchkeyTypes = DefaultTypes> = VerifyOutcome<Types> & {
  /** Every check in order, including those after the first that fails. */
  readonly checks: readonly VerdictCheck[];
};

/** Result of a `peek`: of a plan with the full cost and these limits. */
export interface Peek {
  readonly limits: readonly LimitCharge[];
  readonly cost: number;
  readonly charge: AppliedCharge;
}

/** The only check of a secret that no key has. */
export const NO_SUCH_KEY: readonly VerdictCheck[] = Object.freeze([
  Object.freeze({ check: "exists", passed: false } as const),
]);

/** Every check of a verification at `now`, including those after the first that fails. @see packages/core/decisions/0005-order-of-checks.md */
export function allChecks(
  loaded: LoadedKey,
  question: VerifyQuestion,
  peek: Peek,
  now: EpochMs,
): readonly VerdictCheck[] {
  const byRecords = RECORD_CHECKS.flatMap((check) => {
    const details = check.details(loaded, question, now);
    if (details === null) return [];
    const passed = check.passes(loaded, question, now);
    return { check: check.name, passed, ...details } as RecordCheckOutcome;
  });
  const byLimits = peek.limits.map((limit, index) =>
    ratelimitCheck(limit, peek.charge.limits[index] as LimitReading, peek.charge, now),
  );
  return [
    { check: "exists", passed: true },
    ...byRecords,
    ...byLimits,
    usesCheck(loaded, peek, now),
  ];
}

/** Uses left before the cost is taken; null for unlimited. */
export function usesBefore({ charge, cost }: Pick<Peek, "charge" | "cost">): number | null {
  if (charge.remaining === null) return null;
  return charge.kind === "charged" ? charge.remaining + cost : charge.remaining;
}

function ratelimitCheck(
  limit: LimitCharge,
  reading: LimitReading,
  charge: AppliedCharge,
  now: EpochMs,
): VerdictCheck {
  const { name, cost } = limit;
  const { exceeded } = reading;
  const passed = !exceeded || limit.shadow;
  const retryAfterMs = passed ? null : limitRetryAfterMs(limit, reading, now);
  // A peek that passes shows a limit as the cost would leave it; one that is refused shows it as it is.
  const isTaken = charge.kind === "charged" && !exceeded;
  return withoutNull({
    check: "ratelimit",
    passed,
    name,
    ...ratelimitState(reading, limit),
    remaining: isTaken ? reading.remaining + cost : reading.remaining,
    cost,
    exceeded: limit.shadow ? exceeded : null,
    retryAfterMs,
  } as const);
}

function usesCheck(loaded: LoadedKey, peek: Peek, now: EpochMs): VerdictCheck {
  const { usage, refill } = effectiveUses(loaded);
  const { cost } = peek;
  const remaining = usesBefore(peek);
  const passed = decideSpend(remaining, cost).kind === "spend";
  // Refills up to `refilledAt` are applied, even if a clock that was ahead put it after now.
  const from = Math.max(now, usage.refilledAt);
  const isRefilled = refill !== null && remaining !== null;
  const nextRefillAt = isRefilled ? nextRefillDueAt(refill, from) : null;
  const retryAfterMs =
    passed || !isRefilled ? null : refillRetryAfterMs(refill, remaining, cost, from, now);
  const check = { check: "uses", passed, from: loaded.key.usesFrom } as const;
  return withoutNull({ ...check, remaining, cost, nextRefillAt, retryAfterMs });
}
