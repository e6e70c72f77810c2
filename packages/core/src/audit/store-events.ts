import { LatchkeyError } from "../errors.js";
import { isThenable } from "../lib/thenable.js";
import { interceptStore, type StoreMethod } from "../store/intercept.js";
import type { KeyStore } from "../store/key-store.js";
import type { Clock, Timer } from "../time.js";
import type { Emit, StoreFailedEvent } from "./emitter.js";

/** A store whose failures are events. What its callers get is as before, and no later. */
export function emitStoreFailures(
  store: KeyStore,
  emit: Emit,
  { now, timer }: { readonly now: Clock; readonly timer: Timer },
): KeyStore {
  return interceptStore(store, ({ method, workspaceId }, run) => {
    if (workspaceId === null) return run();
    const startedAt = timer();
    const failed = (error: unknown): void => {
      try {
        const spent = { at: now(), durationMs: timer() - startedAt };
        emit({ type: "store.failed", workspaceId, ...spent, ...describeFailure(method, error) });
      } catch {
        // A clock that is broken is what every operation fails with.
      }
    };
    try {
      const answer = run();
      // Beside the caller's own wait, not in front of it.
      if (isThenable(answer)) answer.then(undefined, failed);
      return answer;
    } catch (error) {
      failed(error);
      throw error;
    }
  });
}

function describeFailure(
  method: StoreMethod,
  error: unknown,
): Pick<StoreFailedEvent, "method" | "code" | "outcome"> {
  if (!(error instanceof LatchkeyError)) return { method, code: "INTERNAL_SERVER_ERROR" };
  const { code, outcome } = error;
  return { method, code, ...(outcome !== undefined && { outcome }) };
}
