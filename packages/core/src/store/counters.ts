import type { LimitState } from "../rules/limit-state.js";
import type { DueRefill } from "../rules/refill.js";
import type { EpochMs } from "../time.js";

/** The use counter of a record. */
export interface Usage {
  /** Uses left: a whole number >= 0, or null for a record without a limit on uses. */
  readonly remaining: number | null;
  /** Up to when refills are applied (Unix epoch ms): one that fell due later is still owed. */
  readonly refilledAt: EpochMs;
  /** Instant of the last refill that happened (Unix epoch ms), or null before the first. */
  readonly lastRefillAt: EpochMs | null;
}

/** The counter of a record that does not exist: there is nothing to use up. */
export const NO_USES: Usage = Object.freeze({ remaining: 0, refilledAt: 0, lastRefillAt: null });

/** The counter of a plan that takes no uses. */
export const UNLIMITED_USES: Usage = Object.freeze({
  remaining: null,
  refilledAt: 0,
  lastRefillAt: null,
});

/** What a store keeps for a record beside the record itself. Records may share one set of counters. */
export interface Counters {
  readonly usage: Usage;
  /** By the `window` of a limit. */
  readonly windows: Readonly<Record<string, LimitState>>;
}

/** A change to the use counter made by management, not by a verification. */
export interface UsageChange {
  /** The refill to apply first, if it is owed. */
  readonly due: DueRefill | null;
  readonly operation:
    | { readonly kind: "keep" }
    /** `remaining`: a whole number >= 0, or null for unlimited. */
    | { readonly kind: "set"; readonly remaining: number | null }
    | { readonly kind: "increment"; readonly by: number }
    | { readonly kind: "decrement"; readonly by: number };
  /**
   * Refills start anew from this instant, also where the counter says that they are applied up to a later one; null:
   * they go on as they were.
   */
  readonly restartsAt: EpochMs | null;
}

/** Leaves uses as they are. */
export const NO_USAGE_CHANGE: UsageChange = Object.freeze({
  due: null,
  operation: Object.freeze({ kind: "keep" }),
  restartsAt: null,
});

/** Why a {@link UsageChange} was refused. A refusal changes nothing. */
export type UsageRefusal =
  /** Increment or decrement of a counter that is unlimited. */
  | { readonly kind: "unlimited" }
  /** Decrement below 0. */
  | { readonly kind: "insufficient"; readonly remaining: number }
  /** Increment above 2^53 − 1. */
  | { readonly kind: "overflow"; readonly remaining: number };

/** What became of a {@link UsageChange}. */
export type UsageChangeResult = { readonly kind: "changed"; readonly usage: Usage } | UsageRefusal;

/**
 * The counter after a refill that is owed: `remaining` rises to the amount and never falls. A refill that was applied
 * before, or a counter without a limit, is left as it is; missed periods do not add up.
 */
export function applyRefill(usage: Usage, due: DueRefill | null): Usage {
  if (due === null || usage.remaining === null || usage.refilledAt >= due.dueAt) return usage;
  const { amount, dueAt } = due;
  return {
    remaining: Math.max(usage.remaining, amount),
    refilledAt: dueAt,
    lastRefillAt: dueAt,
  };
}

/**
 * Applies a {@link UsageChange}: the owed refill first, then the operation, then the restart of refills. A restart also
 * forgets a last refill that lies after it: a clock that was ahead must not be shown for ever.
 *
 * With `applyCharge` this is all that a store repeats where it cannot call JavaScript.
 */
export function changeUsage(usage: Usage, change: UsageChange): UsageChangeResult {
  const current = applyRefill(usage, change.due);
  const { operation } = change;
  switch (operation.kind) {
    case "keep":
      return changed(current.remaining, current, change.restartsAt);
    case "set":
      return changed(operation.remaining, current, change.restartsAt);
    case "increment": {
      if (current.remaining === null) return { kind: "unlimited" };
      const raised = current.remaining + operation.by;
      if (!Number.isSafeInteger(raised)) return { kind: "overflow", remaining: current.remaining };
      return changed(raised, current, change.restartsAt);
    }
    case "decrement":
      if (current.remaining === null) return { kind: "unlimited" };
      if (operation.by > current.remaining)
        return { kind: "insufficient", remaining: current.remaining };
      return changed(current.remaining - operation.by, current, change.restartsAt);
    default:
      return operation satisfies never;
  }
}

function changed(
  remaining: number | null,
  { refilledAt, lastRefillAt }: Usage,
  restartsAt: EpochMs | null,
): UsageChangeResult {
  if (restartsAt === null)
    return { kind: "changed", usage: { remaining, refilledAt, lastRefillAt } };
  const isAhead = lastRefillAt !== null && lastRefillAt > restartsAt;
  const usage = { remaining, refilledAt: restartsAt, lastRefillAt: isAhead ? null : lastRefillAt };
  return { kind: "changed", usage };
}
