import type { Refill } from "../rules/refill.js";
import type { EpochMs } from "../time.js";

/** A refill as it is shown. */
export interface RefillView {
  readonly interval: "daily" | "monthly";
  readonly amount: number;
  readonly refillDay?: number;
  /** Instant of the last refill that happened, Unix epoch ms; absent before the first. Setting `remaining` is no refill. */
  readonly lastRefillAt?: EpochMs;
}

/** A refill with the instant at which it last happened, or null. */
export function toRefillView(refill: Refill, lastRefillAt: EpochMs | null): RefillView {
  return { ...refill, ...(lastRefillAt !== null && { lastRefillAt }) };
}
