import { isThenable } from "./promises.js";

/** Called with failures that no caller waits for: statistics that were not written, a listener that threw, a wrong clock. */
export type ErrorListener = (error: unknown) => unknown;

/** Calls an {@link ErrorListener}. An error that it throws is dropped. */
export function report(onError: ErrorListener | null, error: unknown): void {
  if (onError === null) return;
  try {
    const answer = onError(error);
    if (isThenable(answer)) Promise.resolve(answer).catch(() => undefined);
  } catch {
    // Dropped.
  }
}

/** Reports a failure if there is no `onError`; otherwise it would go unnoticed. */
export function warnOfFailure(error: unknown): void {
  console.warn("latchkey:", error);
}

/** Reports that `onEvent` failed if there is no `onError`. */
export function warnOfListener(error: unknown): void {
  console.warn("latchkey: onEvent failed, and there is no onError to report it to:", error);
}
