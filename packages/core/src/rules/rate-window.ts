import type { EpochMs, SpanMs } from "../time.js";
import { type LimitState, NONE_EARLIER } from "./limit-state.js";

/** How long a store keeps a window without an owner after its end, in case a clock is set back. */
export const KEPT_AFTER_END_MS: SpanMs = 86_400_000;

/**
 * Start of the rate-limit window that contains `now`.
 *
 * Windows are aligned to the Unix epoch. An instant exactly on an edge opens the next window.
 *
 * @param now - Unix epoch ms, passed in by the caller.
 * @param duration - Length of a window in ms: a whole number >= 1.
 * @returns Unix epoch ms, never later than `now`.
 * @see packages/core/decisions/0003-windows-are-epoch-aligned.md
 */
export function windowStartAt(now: EpochMs, duration: SpanMs): EpochMs {
  return now - (now % duration);
}

/** The window at `now`: the stored one, or an empty one if a later window has opened. Windows never go back. */
export function currentWindow(
  stored: LimitState | null,
  duration: SpanMs,
  now: EpochMs,
): LimitState {
  const at = windowStartAt(now, duration);
  return stored !== null && stored.at >= at ? stored : { at, used: 0, earlier: NONE_EARLIER };
}
