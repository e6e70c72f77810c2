import type { SpanMs } from "@latchkey/core";

/** A timer as the runtime has it: some number theirs. */
export type BackgroundTimer = { readonly unref?: () => unknown } | number;

/** Longest time that a timer knows. */
export const MAX_TIMER_MS: SpanMs = 2_147_483_647;

/** Calls something later. It keeps no process alive. `ms`: whole ms >= 0. */
export function inBackground(call: () => void, ms: SpanMs): BackgroundTimer {
  const timer: BackgroundTimer = setTimeout(call, Math.min(ms, MAX_TIMER_MS));
  if (typeof timer === "object") timer.unref?.();
  return timer;
}
