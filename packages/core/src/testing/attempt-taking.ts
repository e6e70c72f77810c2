import { afterTaking, type LimitFigures, limitAt, roomOf } from "../rules/limit-algorithm.js";
import type { LimitState } from "../rules/limit-state.js";
import type { EpochMs } from "../time.js";

/** The limit after `cost` units were taken from it; null if it refuses them. */
export function attemptTaking(
  stored: LimitState | null,
  limit: LimitFigures,
  cost: number,
  now: EpochMs,
): LimitState | null {
  const current = limitAt(stored, limit, now);
  return cost > roomOf(current, limit) ? null : afterTaking(current, limit, cost);
}
