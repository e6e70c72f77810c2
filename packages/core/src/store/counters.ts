import { type HoldSums, raisesWith } from "../rules/hold.js";
import type { LimitState } from "../rules/limit-state.js";
import { type DueRefill, dueRefill, type Refill } from "../rules/refill.js";
import type { EpochMs } from "../time.js";

/** The use counter of a record. */
export interface Usage {
  /** Uses left: a whole number >= 0; null for unlimited. */
  readonly remaining: number | null;
  /** Unix epoch ms up to which refills are applied. */
  readonly refilledAt: EpochMs;
  /** Unix epoch ms of the last refill; null before the first. */
  readonly lastRefillAt: EpochMs | null;
  /** Totals of the holds, which `remaining` does not include; absent if there are none. */
  readonly holds?: HoldSums | undefined;
}

/** The counter of a record that does not exist. */
export const NO_USES: Usage = Object.freeze({ remaining: 0, refilledAt: 0, lastRefillAt: null });

/** The counter of a plan that takes no uses. */
export const UNLIMITED_USES: Usage = Object.freeze({
  remaining: null,
  refilledAt: 0,
  lastRefillAt: null,
});

/** The counters of a record. Several records can share one set. */
export interface Counters {
  readonly usage: Usage;
  /** By name of the window. */
  readonly windows: Readonly<Record<string, LimitState>>;
}

/** A change to the use counter made by management, not by a verification. */
export interface UsageChange {
  /** The refill to apply first, if it is due and not applied. */
  readonly due: DueRefill | null;
  readonly operation:
    | { readonly kind: "keep" }
    /** `remaining`: a whole number >= 0, or null for unlimited. */
    | { readonly kind: "set"; readonly remaining: number | null }
    | { readonly kind: "increment"; readonly by: number }
    | { readonly kind: "decrement"; readonly by: number };
  /** Refills restart from this instant, even if `refilledAt` is later; null: they continue. */
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

/** Result of a {@link UsageChange}. */
export type UsageChangeResult = { readonly kind: "changed"; readonly usage: Usage } | UsageRefusal;

/** The refill of a counter. What it carries over is counted from the `refilledAt` of the counter. */
export function countedRefill({ refilledAt }: Usage, due: DueRefill | null): DueRefill | null {
  return due?.carry?.since === null ? due.carry.countedFrom(refilledAt) : due;
}

/** Whether a due refill was not applied to the counter yet. Unlimited uses have no refill. */
function isOwed({ remaining, refilledAt }: Usage, due: DueRefill): boolean {
  if (remaining === null || refilledAt >= due.dueAt) return false;
  return due.carry === undefined || due.carry.since === refilledAt;
}

/**
 * Applies a due refill: `remaining` rises to the amount and never falls. Nothing changes if it was applied before, or if uses are
 * unlimited. Missed periods add up only with `carryOver`.
 *
 * What it adds while uses are held is recorded, and set off against what those holds return.
 *
 * @param oldest - The lowest number of an open hold; 0 if unknown.
 */
export function applyRefill(usage: Usage, due: DueRefill | null, oldest: number = 0): Usage {
  const counted = countedRefill(usage, due);
  if (counted === null || !isOwed(usage, counted)) return usage;
  const { amount, dueAt, carry } = counted;
  const left = usage.remaining as number;
  const remaining = Math.max(left, Math.min(amount, left + (carry?.units ?? amount)));
  const refilled = { remaining, refilledAt: dueAt, lastRefillAt: dueAt };
  const { holds } = usage;
  if (holds === undefined) return refilled;
  if (holds.uses === 0 || remaining === left) return { ...refilled, holds };
  const raise = { free: amount - remaining, units: remaining - left };
  return { ...refilled, holds: { ...holds, raises: raisesWith(holds, raise, oldest) } };
}

/** The counter at `now`, with the refill that is due by then. */
export function usageAt(usage: Usage, refill: Refill | null, now: EpochMs): Usage {
  return applyRefill(usage, dueRefill(refill, now));
}

/**
 * Applies a {@link UsageChange}: the due refill, then the operation, then the restart of refills. A restart also clears a later
 * `lastRefillAt`, which a wrong clock may have left. Once uses are set, open holds return no uses.
 *
 * A store that cannot call JavaScript reimplements this, `applyCharge` and `applyHoldStep`.
 */
export function changeUsage(usage: Usage, change: UsageChange): UsageChangeResult {
  const current = applyRefill(usage, change.due);
  const { operation } = change;
  switch (operation.kind) {
    case "keep":
      return changed(current.remaining, current, change.restartsAt);
    case "set":
      return changed(operation.remaining, withoutHeldUses(current), change.restartsAt);
    case "increment": {
      if (current.remaining === null) return { kind: "unlimited" };
      const raised = current.remaining + operation.by;
      if (!Number.isSafeInteger(raised + (current.holds?.uses ?? 0)))
        return { kind: "overflow", remaining: current.remaining };
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

function withoutHeldUses(usage: Usage): Usage {
  const { holds } = usage;
  if (holds === undefined) return usage;
  return { ...usage, holds: { ...holds, uses: 0, setBefore: holds.next, raises: [] } };
}

function changed(
  remaining: number | null,
  { refilledAt, lastRefillAt, holds }: Usage,
  restartsAt: EpochMs | null,
): UsageChangeResult {
  const isAhead = restartsAt !== null && lastRefillAt !== null && lastRefillAt > restartsAt;
  const usage = {
    remaining,
    refilledAt: restartsAt ?? refilledAt,
    lastRefillAt: isAhead ? null : lastRefillAt,
  };
  return { kind: "changed", usage: holds === undefined ? usage : { ...usage, holds } };
}
