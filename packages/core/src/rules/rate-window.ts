import type { EpochMs, SpanMs } from "../time.js";

/** What a store keeps of one limit: the window it last counted in, and what was taken there. */
export interface RateWindow {
  readonly startedAt: EpochMs;
  readonly used: number;
}

/**
 * How long a store keeps a window that no record owns, after its end: a clock that is set back by less finds it still.
 */
export const KEPT_AFTER_END_MS: SpanMs = 86_400_000;

/** What one limit says of one attempt to take `cost` units. */
export interface WindowDecision {
  readonly kind: "admit" | "refuse";
  /** The window as it stands when the attempt goes through; unchanged where it is refused. */
  readonly window: RateWindow;
}

/**
 * Start of the rate-limit window that contains `now`.
 *
 * Windows are aligned to the Unix epoch. An instant exactly on an edge opens the next window.
 *
 * @param now - Unix epoch ms, handed in by the caller.
 * @param duration - Length of a window in ms: a whole number >= 1.
 * @returns Unix epoch ms, never later than `now`.
 * @see packages/core/decisions/0003-windows-are-epoch-aligned.md
 */
export function windowStartAt(now: EpochMs, duration: SpanMs): EpochMs {
  return now - (now % duration);
}

/**
 * The window that counts at `now`: the stored one, or an empty one when a later window has opened.
 *
 * A stored window never goes back: when `now` lies before it, the stored window still counts.
 */
export function currentWindow(
  stored: RateWindow | null,
  duration: SpanMs,
  now: EpochMs,
): RateWindow {
  const startedAt = windowStartAt(now, duration);
  return stored !== null && stored.startedAt >= startedAt ? stored : { startedAt, used: 0 };
}

/** Whether so many units more are too many for a window. */
export function isExceeded(used: number, cost: number, limit: number): boolean {
  return used + cost > limit;
}

/**
 * Decides whether `cost` units fit into the window that counts at `now`: used + cost <= limit.
 *
 * A cost of 0 takes nothing, and is refused only when more was used than the limit now allows.
 *
 * @param cost - Units to take: a whole number >= 0.
 */
export function decideWindow(
  stored: RateWindow | null,
  limit: { readonly limit: number; readonly duration: SpanMs },
  cost: number,
  now: EpochMs,
): WindowDecision {
  const window = currentWindow(stored, limit.duration, now);
  if (isExceeded(window.used, cost, limit.limit)) return { kind: "refuse", window };
  return { kind: "admit", window: { startedAt: window.startedAt, used: window.used + cost } };
}
