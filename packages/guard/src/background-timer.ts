import type { SpanMs } from "@latchkey/core";

/** A timer: an object on Node, a number on some other runtimes. */
export type BackgroundTimer = { readonly unref?: () => unknown } | number;

/** Longest delay of a timer. */
export const MAX_TIMER_MS: SpanMs = 2_147_483_647;

/** Calls a function later, without keeping the process alive. `ms`: whole ms >= 0; more than {@link MAX_TIMER_MS} counts as that. */
export function inBackground(call: () => void, ms: SpanMs): BackgroundTimer {
  const timer: BackgroundTimer = setTimeout(call, Math.min(ms, MAX_TIMER_MS));
  if (typeof timer === "object") timer.unref?.();
  return timer;
}

/** Calls a function after other work that is ready. */
export const soon: (call: () => void) => void =
  typeof setImmediate === "function" ? setImmediate : (call) => setTimeout(call, 0);
