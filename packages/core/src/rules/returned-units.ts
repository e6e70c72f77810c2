import { ceilDiv } from "../lib/whole.js";
import { type EpochMs, LAST_INSTANT } from "../time.js";
import type { HeldLimit } from "./hold.js";
import type { LimitKind, LimitState } from "./limit-state.js";
import { slidingAfterReturn, slidingRefillMs } from "./sliding-window.js";
import { bucketAfterLease, bucketAfterReturn } from "./token-bucket.js";

/**
 * The state of a limit after unused held units were returned. They return to the window, or the sixteenth of a sliding span, that they were
 * taken from; if that is over, they are dropped. A token bucket gets back what has not flowed in since, or all of a lease; a concurrent
 * limit gets back its slots.
 */
export function afterReturn(
  state: LimitState,
  { algorithm, duration }: LimitKind,
  held: HeldLimit,
  units: number,
  now: EpochMs,
  isLeased = false,
): LimitState {
  switch (algorithm) {
    case "fixed":
      return state.at === held.at ? withLess(state, units) : state;
    case "concurrent":
      return withLess(state, units);
    case "sliding":
      return slidingAfterReturn(state, { duration }, held.at, units);
    case "token-bucket":
      return isLeased
        ? bucketAfterLease(state, { duration }, held, units, now)
        : bucketAfterReturn(state, { duration }, held, units, now);
    default:
      return algorithm satisfies never;
  }
}

/** When nothing of a limit counts any more after units came back, if nothing else is taken. Unix epoch ms. */
export function endsAfterReturn(state: LimitState, kind: LimitKind, held: HeldLimit): EpochMs {
  return Math.min(emptyAt(state, kind, held), LAST_INSTANT);
}

function emptyAt(
  { at, used }: LimitState,
  { algorithm, duration }: LimitKind,
  { rate }: HeldLimit,
): EpochMs {
  switch (algorithm) {
    case "fixed":
    case "concurrent":
      return at + duration;
    case "sliding":
      return at + slidingRefillMs(duration);
    case "token-bucket":
      return at + ceilDiv(used, rate);
    default:
      return algorithm satisfies never;
  }
}

function withLess(state: LimitState, units: number): LimitState {
  return { ...state, used: Math.max(0, state.used - units) };
}
