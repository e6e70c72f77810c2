import { isExpired } from "../rules/expiry.js";
import { nextRefillDueAt, type Refill } from "../rules/refill.js";
import { decideSpend } from "../rules/usage.js";
import type { AppliedCharge, ChargePlan, LimitCharge } from "../store/charge.js";
import type { EpochMs, SpanMs } from "../time.js";
import { effectiveRefill } from "./effective-uses.js";
import type { VerifiableKey } from "./loaded-key.js";

/** What a verification takes: its limits with their costs, and its uses. */
export type Taken = Pick<ChargePlan, "limits" | "cost">;

/**
 * Ms until the next window of a limit opens, at least 1; null where a cost is above the limit itself and fits no window.
 *
 * @param now - Unix epoch ms, handed in by the caller.
 */
export function windowRetryAfterMs(
  { limit, cost }: Pick<LimitCharge, "limit" | "cost">,
  resetAt: EpochMs,
  now: EpochMs,
): SpanMs | null {
  // The next window is empty. A remembered answer may name one that has opened since.
  return cost <= limit ? Math.max(1, resetAt - now) : null;
}

/**
 * Ms until a refill restores enough uses for `cost`; null where none does.
 *
 * @param remaining - Uses left with a due refill applied: too few for `cost`.
 * @param nextDueAt - Unix epoch ms of the next refill, or null where there is none.
 */
export function refillRetryAfterMs(
  refill: Refill | null,
  remaining: number,
  cost: number,
  nextDueAt: EpochMs | null,
  now: EpochMs,
): SpanMs | null {
  if (refill === null || nextDueAt === null) return null;
  const isEnough = decideSpend(Math.max(remaining, refill.amount), cost).kind === "spend";
  return isEnough ? nextDueAt - now : null;
}

/**
 * Ms from now until a verification that its limits or uses refused would pass if nothing else happens: a whole number >= 1. Null
 * where waiting does not help: a cost above the limit itself, uses that nothing refills, a key that has expired by then.
 *
 * @param now - Unix epoch ms, handed in by the caller.
 */
export function retryAfterMs(
  loaded: Pick<VerifiableKey, "key" | "identity">,
  { limits, cost }: Taken,
  charge: AppliedCharge,
  now: EpochMs,
): SpanMs | null {
  let wait = 0;
  for (const { name, exceeded, resetAt } of charge.limits) {
    if (!exceeded) continue;
    // By name: what is remembered of an earlier request may be about limits that have changed since.
    const limit = limits.find((taken) => taken.name === name);
    const untilReset = limit === undefined ? null : windowRetryAfterMs(limit, resetAt, now);
    if (untilReset === null) return null;
    wait = Math.max(wait, untilReset);
  }
  const { remaining } = charge;
  if (remaining !== null && decideSpend(remaining, cost).kind === "refuse") {
    const refill = effectiveRefill(loaded);
    const nextDueAt = refill === null ? null : nextRefillDueAt(refill, now);
    const untilRefill = refillRetryAfterMs(refill, remaining, cost, nextDueAt, now);
    if (untilRefill === null) return null;
    wait = Math.max(wait, untilRefill);
  }
  return wait === 0 || isExpired(loaded.key.expires, now + wait) ? null : wait;
}
