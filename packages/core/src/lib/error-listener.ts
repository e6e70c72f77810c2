import { isThenable } from "./promises.js";

/** Called with failures that no caller waits for: statistics that were not written, a listener that threw, a wrong clock. */
export type ErrorListener = (error: unknown) => unknown;

/** Calls an {@link ErrorListener}. What it throws itself has nowhere to go. */
export function report(onError: ErrorListener | null, error: unknown): void {
  if (onError === null) return;
  try {
    const answer = onError(error);
    if (isThenable(answer)) Promise.resolve(answer).catch(() => undefined);
  } catch {
    // See above.
  }
}

/** A failure without `onError`, which would otherwise go unnoticed. */
export function warnOfFailure(error: unknown): void {
  console.warn("latchkey:", error);
}

/** A failing `onEvent` without `onError`. */
export function warnOfListener(error: unknown): void {
  console.warn("latchkey: onEvent failed, and there is no onError to report it to:", error);
}
