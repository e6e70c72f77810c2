import { idleExpiresAt, isExpired } from "../rules/keys/lifecycle.js";
import { decideSpend } from "../rules/keys/spend.js";
import { admitsAt, mostOf } from "../rules/limit-algorithm.js";
import type { LimitState } from "../rules/limit-state.js";
import { nextRefillDueAt, type Refill, refillsUntilUses } from "../rules/refill.js";
import type { AppliedCharge, ChargePlan, LimitCharge, LimitReading } from "../store/charge.js";
import type { EpochMs, SpanMs } from "../time.js";
import { effectiveRefill, type VerifiableKey } from "./loaded-key.js";

/** What a verification takes: its limits with their costs, and its uses. */
export type Taken = Pick<ChargePlan, "limits" | "cost">;

/** Ms until a limit that refused has room, at least 1; null if it can never admit the cost. */
export function limitRetryAfterMs(
  limit: LimitCharge,
  reading: Pick<LimitReading, "state" | "resetAt" | "admitsAt">,
  now: EpochMs,
): SpanMs | null {
  if (limit.cost > mostOf(limit)) return null;
  // A result that was remembered when there were only fixed windows has no state.
  const state = reading.state as LimitState | undefined;
  const instant = reading.admitsAt ?? (state && admitsAt(state, limit, limit.cost));
  // A remembered result may have an instant in the past.
  return Math.max(1, (instant ?? reading.resetAt) - now);
}

/** Ms until refills restore enough uses for `cost`; null: never. `appliedUntil`: instant up to which they are applied; not before now. */
export function refillRetryAfterMs(
  refill: Refill | null,
  remaining: number,
  cost: number,
  appliedUntil: EpochMs,
  now: EpochMs,
): SpanMs | null {
  // A cost of 0 needs one use left.
  const times = refill === null ? null : refillsUntilUses(remaining, refill, Math.max(1, cost));
  if (refill === null || times === null) return null;
  const dueAt = nextRefillDueAt(refill, appliedUntil, times);
  return dueAt === null ? null : dueAt - now;
}

/** Ms until a refused verification would pass if nothing else happens, a whole number >= 1; null if waiting does not help. */
export function retryAfterMs(
  loaded: Pick<VerifiableKey, "key" | "identity" | "lastUsedAt">,
  { limits, cost }: Taken,
  charge: AppliedCharge,
  now: EpochMs,
): SpanMs | null {
  let wait = 0;
  for (const reading of charge.limits) {
    if (!reading.exceeded) continue;
    // By name, because a remembered result may be about limits that have changed since then.
    const limit = limits.find(({ name }) => name === reading.name);
    if (limit?.shadow) continue;
    const untilRoom = limit === undefined ? null : limitRetryAfterMs(limit, reading, now);
    if (untilRoom === null) return null;
    wait = Math.max(wait, untilRoom);
  }
  const { remaining } = charge;
  if (remaining !== null && decideSpend(remaining, cost).kind === "refuse") {
    const refill = effectiveRefill(loaded);
    const untilRefill = refillRetryAfterMs(refill, remaining, cost, now, now);
    if (untilRefill === null) return null;
    wait = Math.max(wait, untilRefill);
  }
  const { key, lastUsedAt } = loaded;
  const then = now + wait;
  const isOver = isExpired(key.expires, then) || isExpired(idleExpiresAt(key, lastUsedAt), then);
  return wait === 0 || isOver ? null : wait;
}
