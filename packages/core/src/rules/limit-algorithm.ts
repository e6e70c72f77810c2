import { ceilDiv } from "../lib/whole.js";
import { type EpochMs, LAST_INSTANT, type SpanMs } from "../time.js";
import { type LimitFigures, type LimitKind, type LimitState, NONE_EARLIER } from "./limit-state.js";
import { currentWindow } from "./rate-window.js";
import {
  slidingAdmitsAt,
  slidingAt,
  slidingGroupEnd,
  slidingGroups,
  slidingRefillMs,
  slidingRoom,
} from "./sliding-window.js";
import { bucketAdmitsAt, bucketAfterTaking, bucketAt, bucketRoom } from "./token-bucket.js";

/** The state of a limit at `now`. It is only stored when something is taken. */
export function limitAt(stored: LimitState | null, limit: LimitFigures, now: EpochMs): LimitState {
  switch (limit.algorithm) {
    case "fixed":
      return currentWindow(stored, limit.duration, now);
    case "sliding":
      return slidingAt(stored, limit, now);
    case "token-bucket":
      return bucketAt(stored, limit, now);
    case "concurrent":
      // Slots that end by themselves are given back before anything is decided.
      return { at: Math.max(now, stored?.at ?? 0), used: stored?.used ?? 0, earlier: NONE_EARLIER };
    default:
      return limit.algorithm satisfies never;
  }
}

/** Units left in the state that {@link limitAt} returned; negative if `limit` was lowered below what was taken. */
export function roomOf(current: LimitState, limit: LimitFigures): number {
  switch (limit.algorithm) {
    case "fixed":
    case "concurrent":
      return limit.limit - current.used;
    case "sliding":
      return slidingRoom(current, limit);
    case "token-bucket":
      return bucketRoom(current, limit);
    default:
      return limit.algorithm satisfies never;
  }
}

/** The state after `cost` units were taken. `isReserved`: whether a reservation took them. */
export function afterTaking(
  state: LimitState,
  limit: LimitFigures,
  cost: number,
  isReserved = false,
): LimitState {
  if (limit.algorithm === "token-bucket")
    return bucketAfterTaking(state, limit, cost, cost > 0 ? (limit.held ?? 0) : 0, isReserved);
  const { at, used, earlier } = state;
  return { at, used: used + cost, earlier };
}

/** Most units that the limit admits at once. */
export function mostOf({ algorithm, limit, burst }: LimitFigures): number {
  return algorithm === "token-bucket" ? burst : limit;
}

/**
 * The first instant at which `cost` units fit if nothing else is taken: the instant of `current` if they fit already; null if they never
 * fit. For a fixed limit, it is the edge of its window. For a concurrent limit, it is when all slots held at `current` have ended unless
 * renewed: only the holds themselves know more.
 *
 * @param current - As {@link limitAt} returns it.
 * @returns Unix epoch ms; it may be later than any `Date`.
 */
export function admitsAt(current: LimitState, limit: LimitFigures, cost: number): EpochMs | null {
  if (cost > mostOf(limit)) return null;
  if (cost <= roomOf(current, limit)) return current.at;
  switch (limit.algorithm) {
    case "fixed":
    case "concurrent":
      return current.at + limit.duration;
    case "sliding":
      return slidingAdmitsAt(current, limit, cost);
    case "token-bucket":
      return bucketAdmitsAt(current, limit, cost);
    default:
      return limit.algorithm satisfies never;
  }
}

/** The first instant at which the whole limit is available if nothing else is taken; for a fixed limit, the edge of its window. */
export function resetAt(current: LimitState, limit: LimitFigures): EpochMs {
  if (limit.algorithm === "fixed") return current.at + limit.duration;
  return admitsAt(current, limit, mostOf(limit)) as EpochMs;
}

/** Ms until a used-up limit is fully available again. */
export function refillMs({ algorithm, limit, duration, burst }: LimitFigures): SpanMs {
  switch (algorithm) {
    case "fixed":
    case "concurrent":
      return duration;
    case "sliding":
      return slidingRefillMs(duration);
    case "token-bucket":
      return ceilDiv(burst * duration, limit);
    default:
      return algorithm satisfies never;
  }
}

/** One charge of {@link takingsOf}. */
export interface Taking {
  readonly now: EpochMs;
  readonly cost: number;
  readonly limit: LimitFigures;
}

/**
 * The end of the window, or of the group of a sliding limit, in which units were just taken. A unit that is used before that end counts as
 * if it had been taken when it was used. Null for a token bucket, because its units may be used as long as they are held, and for slots.
 */
export function endOfGroup({ at }: LimitState, limit: LimitKind): EpochMs | null {
  switch (limit.algorithm) {
    case "fixed":
      return at + limit.duration;
    case "sliding":
      return slidingGroupEnd(at, limit.duration);
    case "token-bucket":
    case "concurrent":
      return null;
    default:
      return limit.algorithm satisfies never;
  }
}

/** The charges that recreate a state, in order, to copy it into a store that can only charge. None of them is refused. */
export function takingsOf(
  { at, used, earlier }: LimitState,
  { algorithm, duration }: LimitKind,
): readonly Taking[] {
  const limit = { algorithm, duration, limit: Number.MAX_SAFE_INTEGER, burst: 1 };
  const latest = { now: at, cost: used, limit };
  switch (algorithm) {
    case "fixed":
    case "concurrent":
      return [latest];
    case "sliding":
      return [
        ...slidingGroups({ at, used, earlier }, limit).map((group) => ({ ...group, limit })),
        latest,
      ];
    case "token-bucket":
      // In a bucket of one unit per ms, the missing amount equals the units that were taken.
      return [
        { ...latest, limit: { algorithm, duration: 1, limit: 1, burst: used, held: earlier[0] } },
      ];
    default:
      return algorithm satisfies never;
  }
}

/** When nothing of the state counts any more, if nothing else is taken. Unix epoch ms. */
export function endsAt(state: LimitState, limit: LimitFigures): EpochMs {
  return Math.min(resetAt(state, limit), LAST_INSTANT);
}
