import { ceilDiv } from "../lib/whole.js";
import type { EpochMs } from "../time.js";
import type { HeldLimit } from "./hold.js";
import { type LimitFigures, type LimitKind, type LimitState, NONE_EARLIER } from "./limit-state.js";

/** Units of a bucket that leases hold: it fills to its burst minus these. */
function heldOf({ earlier }: LimitState): number {
  // Most have none, and reading past the end of an array is slower.
  return earlier.length === 0 ? 0 : (earlier[0] as number);
}

/** The inflow counter of a bucket. It starts when units are reserved, so that the end of the reservation knows the inflow since. */
interface Inflow {
  /** Units × `duration` that flowed in since. */
  readonly flowed: number;
  readonly since: EpochMs;
}

function inflowOf({ earlier }: LimitState): Inflow | null {
  return earlier.length < 3 ? null : { flowed: earlier[1] as number, since: earlier[2] as number };
}

/** The `earlier` of a bucket. */
function earlierOf(leased: number, inflow: Inflow | null): readonly number[] {
  if (inflow !== null) return [leased, inflow.flowed, inflow.since];
  return leased === 0 ? NONE_EARLIER : [leased];
}

/** The counter after `more` flowed in until `now`. It restarts if it would exceed the safe integers. */
function withInflow({ flowed, since }: Inflow, more: number, now: EpochMs): Inflow {
  return more > Number.MAX_SAFE_INTEGER - flowed
    ? { flowed: 0, since: now }
    : { flowed: flowed + more, since };
}

/**
 * The bucket at `now`. The missing amount is kept in units × `duration`, so that the inflow of one ms is a whole number and nothing is ever
 * rounded. A bucket that nothing was taken from is full, and a clock that is set back fills nothing. Units that leases hold are missing
 * until the leases end, because they may be used at any time.
 */
export function bucketAt(
  stored: LimitState | null,
  { limit, duration }: Pick<LimitFigures, "limit" | "duration">,
  now: EpochMs,
): LimitState {
  if (stored === null) return { at: now, used: 0, earlier: NONE_EARLIER };
  const at = Math.max(now, stored.at);
  const held = heldOf(stored) * duration;
  const filling = stored.used - held;
  const passed = at - stored.at;
  // Above 2^53 the product is rounded, but not to less than `filling`, which is a whole number below that.
  const flowed = passed * limit;
  const used = flowed >= filling ? held : stored.used - flowed;
  const inflow = inflowOf(stored);
  if (inflow === null || used >= stored.used) return { at, used, earlier: stored.earlier };
  const after = withInflow(inflow, stored.used - used, at);
  return { at, used, earlier: earlierOf(heldOf(stored), after) };
}

/** The bucket after `units` were taken, `held` of them by a lease. `isReserved`: they may come back, so inflow is counted from now on. */
export function bucketAfterTaking(
  state: LimitState,
  { duration }: Pick<LimitKind, "duration">,
  units: number,
  held: number,
  isReserved: boolean,
): LimitState {
  const { at, used, earlier } = state;
  const counted = inflowOf(state);
  const inflow = counted ?? (isReserved && units > 0 ? { flowed: 0, since: at } : null);
  const isSame = held === 0 && inflow === counted;
  return {
    at,
    used: used + units * duration,
    earlier: isSame ? earlier : earlierOf(heldOf(state) + held, inflow),
  };
}

/** The inflow counter of a bucket; undefined if none of its units were reserved. */
export function bucketFlowed(state: LimitState): number | undefined {
  return inflowOf(state)?.flowed;
}

/** Whole units that the bucket holds, as {@link bucketAt} returns it; negative if it was made smaller than its missing amount. */
export function bucketRoom({ used }: LimitState, { duration, burst }: LimitFigures): number {
  return burst - ceilDiv(used, duration);
}

/** The first instant at which the bucket holds `cost` units, at most `burst`, if nothing else is taken; it may be later than any `Date`. */
export function bucketAdmitsAt(
  { at, used }: LimitState,
  { limit, duration, burst }: LimitFigures,
  cost: number,
): EpochMs {
  return at + ceilDiv(used - (burst - cost) * duration, limit);
}

/**
 * Gives back units that were taken at `at`, minus the inflow since: had they never been taken, a bucket that was full meanwhile would have
 * had no room for that inflow. So the bucket never admits more than if they had never been taken, even if its rate changed meanwhile.
 * Without an inflow counter, because the reservation was copied, the inflow is computed from the rate.
 */
export function bucketAfterReturn(
  state: LimitState,
  { duration }: Pick<LimitKind, "duration">,
  { at, rate, flowed }: Pick<HeldLimit, "at" | "rate" | "flowed">,
  units: number,
  now: EpochMs,
): LimitState {
  const given = units * duration;
  const inflow = inflowOf(state);
  const passed = Math.max(now, state.at) - at;
  const isCounted = flowed !== undefined && inflow !== null && inflow.since <= at;
  const flowedSince = isCounted ? inflow.flowed - flowed : passed * rate;
  if (flowedSince >= given) return state;
  const used = Math.max(heldOf(state) * duration, state.used - (given - flowedSince));
  return { ...state, used };
}

/** The bucket after a lease: unused units come back, used ones count from now on, because it was as full as it can be without them. */
export function bucketAfterLease(
  state: LimitState,
  { duration }: Pick<LimitKind, "duration">,
  lease: { readonly rate: number; readonly units: number },
  unused: number,
  now: EpochMs,
): LimitState {
  const current = bucketAt(state, { limit: lease.rate, duration }, now);
  const earlier = earlierOf(Math.max(0, heldOf(state) - lease.units), inflowOf(current));
  return { at: current.at, used: Math.max(0, current.used - unused * duration), earlier };
}
