import type { Refill } from "../rules/refill.js";
import type { EpochMs } from "../time.js";

/** A refill as it is shown. */
export interface RefillView {
  readonly interval: "daily" | "monthly";
  readonly amount: number;
  readonly refillDay?: number;
  /** Up to when refills are settled: the last refill, or the creation or last setting of the counter. Unix epoch ms. */
  readonly lastRefillAt: EpochMs;
}

/** Writes a refill with the instant up to which it is settled. */
export function toRefillView(refill: Refill, refilledAt: EpochMs): RefillView {
  return { ...refill, lastRefillAt: refilledAt };
}
