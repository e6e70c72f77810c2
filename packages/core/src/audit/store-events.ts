import { LatchkeyError } from "../errors.js";
import { isThenable } from "../lib/promises.js";
import { interceptStore } from "../store/intercept.js";
import type { KeyStore } from "../store/key-store.js";
import type { Clock, Timer } from "../time.js";
import type { Emit } from "./emitter.js";

/** Wraps a store so that its failures are events. Its callers get the same results, no later. */
export function emitStoreFailures(store: KeyStore, emit: Emit, now: Clock, timer: Timer): KeyStore {
  return interceptStore(store, ({ method, workspaceId }, run) => {
    if (workspaceId === null) return run();
    const startedAt = timer();
    const failed = (error: unknown): void => {
      const { code, outcome }: Partial<LatchkeyError> = error instanceof LatchkeyError ? error : {};
      try {
        emit({
          type: "store.failed",
          workspaceId,
          at: now(),
          durationMs: timer() - startedAt,
          method,
          code: code ?? "INTERNAL_SERVER_ERROR",
          ...(outcome !== undefined && { outcome }),
        });
      } catch {
        // Only a broken clock throws here, and every operation fails with it anyway.
      }
    };
    try {
      const answer = run();
      // Beside the caller's own wait, so that it delays nothing.
      if (isThenable(answer)) answer.then(undefined, failed);
      return answer;
    } catch (error) {
      failed(error);
      throw error;
    }
  });
}
