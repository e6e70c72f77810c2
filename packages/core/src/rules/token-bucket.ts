import { ceilDiv } from "../lib/ceil-div.js";
import type { EpochMs, SpanMs } from "../time.js";
import { type LimitState, NONE_EARLIER } from "./limit-state.js";

/** A bucket that holds `burst` units, into which `limit` units flow per `duration`. */
export interface BucketLimit {
  /** Units that flow in per `duration`: a whole number >= 1. */
  readonly limit: number;
  /** In ms: a whole number >= 1. `burst` × `duration` + `limit` is at most 2^53 − 1. */
  readonly duration: SpanMs;
  /** Units that fit into the bucket: a whole number >= 1. */
  readonly burst: number;
}

/**
 * The bucket at `now`. What is missing from a full one is kept in units × `duration`: what flows in during one ms is a whole number then,
 * and nothing is ever rounded. One that nothing was taken from is full, and a clock that is set back fills none.
 */
export function bucketAt(
  stored: LimitState | null,
  { limit }: Pick<BucketLimit, "limit">,
  now: EpochMs,
): LimitState {
  if (stored === null) return { at: now, used: 0, earlier: NONE_EARLIER };
  const at = Math.max(now, stored.at);
  // Compared before it is multiplied: the product may be above 2^53.
  const isFull = at - stored.at >= ceilDiv(stored.used, limit);
  return { at, used: isFull ? 0 : stored.used - (at - stored.at) * limit, earlier: NONE_EARLIER };
}

/** Whole units that the bucket holds, as {@link bucketAt} returns it; negative if it was made smaller than what is missing. */
export function bucketRoom({ used }: LimitState, { duration, burst }: BucketLimit): number {
  return burst - ceilDiv(used, duration);
}

/**
 * The first instant at which the bucket holds `cost` units, at most `burst`, if nothing else is taken.
 *
 * @param current - As {@link bucketAt} returns it, without so many.
 * @returns Unix epoch ms; it may be later than any `Date`.
 */
export function bucketAdmitsAt(
  { at, used }: LimitState,
  { limit, duration, burst }: BucketLimit,
  cost: number,
): EpochMs {
  return at + ceilDiv(used - (burst - cost) * duration, limit);
}

/**
 * Gives back units that were taken at `at`, less what has flowed in since: had they never been taken, a bucket that was full meanwhile
 * would have had no room for that. So no more is ever admitted than without them.
 *
 * @param rate - Units that flow in per `duration`.
 */
export function bucketAfterReturn(
  state: LimitState,
  { duration }: Pick<BucketLimit, "duration">,
  { at, rate }: { readonly at: EpochMs; readonly rate: number },
  units: number,
  now: EpochMs,
): LimitState {
  const given = units * duration;
  const passed = Math.max(now, state.at) - at;
  // Compared before it is multiplied: the product may be above 2^53.
  if (passed >= ceilDiv(given, rate)) return state;
  return { ...state, used: Math.max(0, state.used - (given - passed * rate)) };
}
