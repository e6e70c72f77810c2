import type { LoadedKey } from "../records/key.js";
import { isExpired } from "../rules/expiry.js";
import { missingPermissions } from "../rules/missing-permissions.js";
import type { PermissionQuery } from "../rules/permission.js";
import { nextRefillDueAt } from "../rules/refill.js";
import { decideSpend, type UsesOwner } from "../rules/usage.js";
import type { AppliedCharge, LimitCharge, LimitReading } from "../store/charge.js";
import type { EpochMs, SpanMs } from "../time.js";
import { drawnUses } from "./effective-uses.js";
import type { VerifyOutcome } from "./verdict.js";
import { isAddressAllowed, type VerifyQuestion } from "./verify.js";

/** A check that waiting does not mend: somebody has to change the key, or to ask another question. */
interface LastingCheck {
  readonly passed: boolean;
}

/** A check that passes by itself later on. */
interface PassingCheck {
  readonly passed: boolean;
  /**
   * Ms from now until the check passes if nothing else happens: a whole number >= 1. Absent where it has passed, and
   * where waiting does not help.
   */
  readonly retryAfterMs?: SpanMs;
}

/** One check of a verification: its outcome, and what it saw. Fields without a value are absent. */
export type VerdictCheck =
  /** A live key of this workspace has this secret. Where it has not, there is nothing else to check. */
  | ({ readonly check: "exists" } & LastingCheck)
  /** The key is switched on. */
  | ({ readonly check: "enabled" } & LastingCheck)
  /** The key belongs to the API that was asked about, if any. */
  | ({
      readonly check: "api";
      /** The key's own. */
      readonly apiId: string;
      /** The one asked about. */
      readonly wanted?: string;
    } & LastingCheck)
  | ({ readonly check: "expiry"; readonly expires?: EpochMs } & LastingCheck)
  /** The API has no allow-list of addresses, or the address that was given is in it. */
  | ({
      readonly check: "address";
      /** As given, in its one form. The list itself is not told. */
      readonly ipAddress?: string;
    } & LastingCheck)
  | ({
      readonly check: "permissions";
      /** What the query asks for in vain, and nothing else that the key has or has not. */
      readonly missing?: PermissionQuery;
    } & LastingCheck)
  /** One for each limit that the verification takes from, in order. */
  | ({
      readonly check: "ratelimit";
      readonly name: string;
      readonly limit: number;
      /** Units left in the window, before the cost is taken. */
      readonly remaining: number;
      readonly cost: number;
      /** Unix epoch ms at which the next window opens. */
      readonly reset: EpochMs;
    } & PassingCheck)
  | ({
      readonly check: "uses";
      /** Whose uses they are. */
      readonly from: UsesOwner;
      /** Uses left with a due refill applied, before the cost is taken. Absent when unlimited. */
      readonly remaining?: number;
      readonly cost: number;
      /** Unix epoch ms of the next refill. */
      readonly nextRefillAt?: EpochMs;
    } & PassingCheck);

/** The verdict that a verification would give, with every check that led to it, in the order in which they are made. */
export type DryRunOutcome = VerifyOutcome & { readonly checks: readonly VerdictCheck[] };

/** What a look at the counters answered: a plan with the full cost and these limits, in mode `look`. */
export interface Look {
  readonly limits: readonly LimitCharge[];
  readonly cost: number;
  readonly charge: AppliedCharge;
}

/** The only check of a secret that no key has. */
export const NO_SUCH_KEY: readonly VerdictCheck[] = Object.freeze([
  Object.freeze({ check: "exists", passed: false } as const),
]);

/**
 * Every check of a verification at `now`, also those behind the first that fails.
 *
 * @see packages/core/decisions/0005-order-of-checks.md
 */
export function checksOf(
  loaded: LoadedKey,
  question: VerifyQuestion,
  look: Look,
  now: EpochMs,
): readonly VerdictCheck[] {
  const { key } = loaded;
  const missing =
    question.permissions === null
      ? null
      : missingPermissions(question.permissions, loaded.permissions);
  return [
    { check: "exists", passed: true },
    { check: "enabled", passed: key.switchedOn },
    {
      check: "api",
      passed: question.apiId === null || question.apiId === key.apiId,
      apiId: key.apiId,
      ...(question.apiId !== null && { wanted: question.apiId }),
    },
    {
      check: "expiry",
      passed: !isExpired(key.expiresAt, now),
      ...(key.expiresAt !== null && { expires: key.expiresAt }),
    },
    {
      check: "address",
      passed: isAddressAllowed(loaded.api, question.address),
      ...(question.address !== null && { ipAddress: question.address }),
    },
    { check: "permissions", passed: missing === null, ...(missing !== null && { missing }) },
    ...look.limits.map((limit, index) =>
      ratelimitCheck(limit, look.charge.limits[index] as LimitReading, look.charge, now),
    ),
    usesCheck(loaded, look, now),
  ];
}

/** The verdict that checks stand for: that of the first that failed. */
export function codeOf(checks: readonly VerdictCheck[]): VerifyOutcome["code"] {
  const failed = checks.find(({ passed }) => !passed);
  return failed === undefined ? "VALID" : CODE_BY_CHECK[failed.check];
}

const CODE_BY_CHECK = {
  exists: "NOT_FOUND",
  enabled: "DISABLED",
  api: "FORBIDDEN",
  expiry: "EXPIRED",
  address: "FORBIDDEN",
  permissions: "INSUFFICIENT_PERMISSIONS",
  ratelimit: "RATE_LIMITED",
  uses: "USAGE_EXCEEDED",
} as const satisfies Record<VerdictCheck["check"], VerifyOutcome["code"]>;

/** Uses left before the cost is taken, as the look saw them; null for unlimited. */
export function usesSeen({ charge, cost }: Pick<Look, "charge" | "cost">): number | null {
  if (charge.remaining === null) return null;
  return charge.kind === "charged" ? charge.remaining + cost : charge.remaining;
}

function ratelimitCheck(
  { name, limit, cost }: LimitCharge,
  reading: LimitReading,
  charge: AppliedCharge,
  now: EpochMs,
): VerdictCheck {
  const passed = !reading.exceeded;
  return {
    check: "ratelimit",
    passed,
    name,
    limit,
    // A look that gets through shows the window as the cost would leave it, one that is refused as it is.
    remaining: charge.kind === "charged" ? reading.remaining + cost : reading.remaining,
    cost,
    reset: reading.resetAt,
    // The next window is empty: only a cost above the limit itself does not fit there.
    ...(!passed && cost <= limit && { retryAfterMs: reading.resetAt - now }),
  };
}

function usesCheck(loaded: LoadedKey, look: Look, now: EpochMs): VerdictCheck {
  const { usage, refill } = drawnUses(loaded);
  const { cost } = look;
  const remaining = usesSeen(look);
  const passed = decideSpend(remaining, cost).kind === "spend";
  // Refills that fell due up to `refilledAt` count as settled, also where a clock that was ahead put it after now.
  const nextRefillAt =
    refill === null || remaining === null
      ? null
      : nextRefillDueAt(refill, Math.max(now, usage.refilledAt));
  const isMended =
    refill !== null &&
    remaining !== null &&
    decideSpend(Math.max(remaining, refill.amount), cost).kind === "spend";
  return {
    check: "uses",
    passed,
    from: loaded.key.usesFrom,
    ...(remaining !== null && { remaining }),
    cost,
    ...(nextRefillAt !== null && { nextRefillAt }),
    ...(!passed && isMended && nextRefillAt !== null && { retryAfterMs: nextRefillAt - now }),
  };
}
