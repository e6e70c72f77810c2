import { setTimeout } from "node:timers/promises";
import { interceptStore, type KeyStore, LatchkeyError } from "@latchkey/core";

/** Pauses before each further attempt, in ms: half a minute together, in which most failovers end. */
const PAUSES_MS: readonly number[] = [100, 400, 1_500, 3_000, 5_000, 10_000, 10_000];

/**
 * A store whose reads are repeated while it does not answer: what takes hours must not fail because the store restarts or fails over.
 * Until its first answer, errors come at once: the address or the password may be wrong. Only for reads, since every call is repeated.
 */
export function withRetriedReads(store: KeyStore, pausesMs = PAUSES_MS): KeyStore {
  let hasAnswered = false;
  return interceptStore(store, async (_, read) => {
    for (const pauseMs of pausesMs) {
      try {
        const answer = await read();
        hasAnswered = true;
        return answer;
      } catch (error) {
        if (!hasAnswered || !isOfMissingAnswer(error)) throw error;
      }
      await setTimeout(pauseMs);
    }
    return read();
  });
}

function isOfMissingAnswer(error: unknown): boolean {
  return error instanceof LatchkeyError && error.code === "STORE_UNAVAILABLE";
}
