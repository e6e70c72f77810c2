/**
 * How long the window of a limit that nothing configures is kept after its end. Long enough that a clock set back by
 * less finds it still there: no window goes back.
 */
export const KEPT_AFTER_END_MS = 24 * 60 * 60 * 1000;

/** How many ended windows are forgotten with each that is written: more than is added, so that forgetting keeps up. */
export const FORGOTTEN_AT_ONCE = 2;
