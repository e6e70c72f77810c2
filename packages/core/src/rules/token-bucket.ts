import { ceilDiv } from "../lib/ceil-div.js";
import type { EpochMs, SpanMs } from "../time.js";
import { type LimitState, NONE_EARLIER } from "./limit-state.js";

/** Units of a bucket that leases hold: it fills to its burst less these. */
function heldOf({ earlier }: LimitState): number {
  // Most have none: what is behind the end of an array takes longer to read.
  return earlier.length === 0 ? 0 : (earlier[0] as number);
}

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
 * and nothing is ever rounded. One that nothing was taken from is full, and a clock that is set back fills none. What leases hold is
 * missing until they end: they may use it at any time.
 */
export function bucketAt(
  stored: LimitState | null,
  { limit, duration }: Pick<BucketLimit, "limit" | "duration">,
  now: EpochMs,
): LimitState {
  if (stored === null) return { at: now, used: 0, earlier: NONE_EARLIER };
  const at = Math.max(now, stored.at);
  const held = heldOf(stored) * duration;
  const filling = stored.used - held;
  const passed = at - stored.at;
  // Compared before it is multiplied: the product may be above 2^53.
  const isFull = filling <= 0 || passed >= ceilDiv(filling, limit);
  return { at, used: isFull ? held : stored.used - passed * limit, earlier: stored.earlier };
}

/** The bucket after `units` were taken. @param held - How many of them are a lease's. */
export function bucketAfterTaking(
  state: LimitState,
  { duration }: Pick<BucketLimit, "duration">,
  units: number,
  held: number,
): LimitState {
  const { at, used, earlier } = state;
  const leased = held === 0 ? earlier : [heldOf(state) + held];
  return { at, used: used + units * duration, earlier: leased };
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
  return {
    ...state,
    used: Math.max(heldOf(state) * duration, state.used - (given - passed * rate)),
  };
}

/**
 * The bucket after a lease of it has ended. What was not used comes back. What was used counts from now on: until now the bucket was as full as it
 * may be beside what was held.
 *
 * @param lease - Its units, and how many flow in per `duration`.
 * @param unused - How many of its units were not used.
 */
export function bucketAfterLease(
  state: LimitState,
  { duration }: Pick<BucketLimit, "duration">,
  lease: { readonly rate: number; readonly units: number },
  unused: number,
  now: EpochMs,
): LimitState {
  const { at, used } = bucketAt(state, { limit: lease.rate, duration }, now);
  const held = heldOf(state) - lease.units;
  const earlier = held > 0 ? [held] : NONE_EARLIER;
  return { at, used: Math.max(0, used - unused * duration), earlier };
}
