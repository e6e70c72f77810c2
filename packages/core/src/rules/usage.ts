import type { DueRefill } from "./refill.js";
import type { EpochMs } from "../time.js";

/** The use counter of a key, or of an identity whose keys share it. */
export interface Usage {
  /** Uses left: a whole number >= 0, or null for a key without a limit on uses. */
  readonly remaining: number | null;
  /** Up to when refills are settled (Unix epoch ms): one that fell due later is still owed. */
  readonly refilledAt: EpochMs;
}

/** Whose number of uses a key draws from. */
export type UsesOwner = "key" | "identity";

/** The counter of an identity that does not exist: there is nothing to draw from. */
export const NO_USES: Usage = Object.freeze({ remaining: 0, refilledAt: 0 });

/** What the use counter says of one attempt to spend. */
export type SpendDecision =
  | { readonly kind: "spend"; readonly remaining: number | null }
  | { readonly kind: "refuse"; readonly remaining: number };

/** A change to the use counter made by management, not by a verification. */
export interface UsageChange {
  /** The refill to settle first, if it is owed. */
  readonly due: DueRefill | null;
  readonly operation:
    | { readonly kind: "keep" }
    /** `remaining`: a whole number >= 0, or null for unlimited. */
    | { readonly kind: "set"; readonly remaining: number | null }
    | { readonly kind: "increment"; readonly by: number }
    | { readonly kind: "decrement"; readonly by: number };
  /** Refills that fell due up to this instant count as settled afterwards. */
  readonly settledAt: EpochMs;
}

/** What became of a {@link UsageChange}. A refusal changes nothing. */
export type UsageChangeResult =
  | { readonly kind: "changed"; readonly usage: Usage }
  /** Increment or decrement of a counter that is unlimited. */
  | { readonly kind: "unlimited" }
  /** Decrement below 0. */
  | { readonly kind: "insufficient"; readonly remaining: number }
  /** Increment above 2^53 − 1. */
  | { readonly kind: "overflow"; readonly remaining: number };

/**
 * Decides whether `cost` uses can be spent. Never clamps: a cost above what is left is refused and takes
 * nothing. An exhausted counter refuses every cost, 0 included.
 *
 * @param cost - Uses to spend: a whole number >= 0.
 */
export function decideSpend(remaining: number | null, cost: number): SpendDecision {
  if (remaining === null) return { kind: "spend", remaining: null };
  if (remaining <= 0 || cost > remaining) return { kind: "refuse", remaining };
  return { kind: "spend", remaining: remaining - cost };
}

/**
 * The counter after a refill that is owed: `remaining` rises to the amount and never falls. A refill that
 * was settled before, or a counter without a limit, is left as it is; missed periods do not add up.
 */
export function settleRefill(usage: Usage, due: DueRefill | null): Usage {
  if (due === null || usage.remaining === null || usage.refilledAt >= due.dueAt) return usage;
  return { remaining: Math.max(usage.remaining, due.amount), refilledAt: due.dueAt };
}

/** Applies a {@link UsageChange}: the owed refill first, then the operation. */
export function changeUsage(usage: Usage, change: UsageChange): UsageChangeResult {
  const settled = settleRefill(usage, change.due);
  const refilledAt = Math.max(settled.refilledAt, change.settledAt);
  const { operation } = change;
  switch (operation.kind) {
    case "keep":
      return { kind: "changed", usage: { remaining: settled.remaining, refilledAt } };
    case "set":
      return { kind: "changed", usage: { remaining: operation.remaining, refilledAt } };
    case "increment": {
      if (settled.remaining === null) return { kind: "unlimited" };
      const raised = settled.remaining + operation.by;
      if (!Number.isSafeInteger(raised)) return { kind: "overflow", remaining: settled.remaining };
      return { kind: "changed", usage: { remaining: raised, refilledAt } };
    }
    case "decrement": {
      if (settled.remaining === null) return { kind: "unlimited" };
      if (operation.by > settled.remaining)
        return { kind: "insufficient", remaining: settled.remaining };
      return {
        kind: "changed",
        usage: { remaining: settled.remaining - operation.by, refilledAt },
      };
    }
    default:
      return operation satisfies never;
  }
}
