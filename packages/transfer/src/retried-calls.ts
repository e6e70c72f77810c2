import { interceptStore, type KeyStore, LatchkeyError } from "@latchkey/core";
import { pause } from "./yield.js";

/** Pauses before each further attempt, in ms: half a minute together, in which most failovers end. */
const PAUSES_MS: readonly number[] = [100, 400, 1_500, 3_000, 5_000, 10_000, 10_000];

/**
 * A store whose calls are repeated while it does not answer, if they change nothing or were certainly not applied: what takes hours must
 * not fail because the store restarts, fails over, or once takes longer than the deadline of a call. Until its first answer, errors come at
 * once: the address or the password may be wrong.
 */
export function withRetriedCalls(store: KeyStore, pausesMs = PAUSES_MS): KeyStore {
  let hasAnswered = false;
  async function repeated(isRead: boolean, call: () => unknown): Promise<unknown> {
    for (const pauseMs of pausesMs) {
      try {
        const answer = await call();
        hasAnswered = true;
        return answer;
      } catch (error) {
        if (!hasAnswered || !isOfMissingAnswer(error, isRead)) throw error;
      }
      await pause(pauseMs);
    }
    return call();
  }
  return interceptStore(store, ({ method, isRead }, call) =>
    method === "close" ? call() : repeated(isRead, call),
  );
}

function isOfMissingAnswer(error: unknown, isRead: boolean): boolean {
  const isAway = error instanceof LatchkeyError && error.code === "STORE_UNAVAILABLE";
  return isAway && (isRead || error.outcome === "not-applied");
}
