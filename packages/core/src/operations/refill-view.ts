import type { Refill } from "../rules/refill.js";
import type { EpochMs } from "../time.js";

/** A refill as it is shown. */
export interface RefillView {
  /** `daily`: at each midnight of UTC. `monthly`: at midnight of UTC at the beginning of `refillDay`. */
  readonly interval: "daily" | "monthly";
  /** Uses that there are after a refill, which never lowers them. */
  readonly amount: number;
  /** Day of the month, 1 to 31, with `monthly`; a shorter month refills on its last day. */
  readonly refillDay?: number;
  /** Instant of the last refill that happened, Unix epoch ms; absent before the first. Setting `remaining` is no refill. */
  readonly lastRefillAt?: EpochMs;
}

/** A refill with the instant at which it last happened, or null. */
export function toRefillView(refill: Refill, lastRefillAt: EpochMs | null): RefillView {
  return { ...refill, ...(lastRefillAt !== null && { lastRefillAt }) };
}
