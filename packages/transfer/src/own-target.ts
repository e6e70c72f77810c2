import { interceptStore, type KeyStore, LatchkeyError } from "@latchkey/core";
import { type FoundState, readState } from "./state.js";

/** The error of a copy that writes to a target which another one has taken over. */
export function notOwnTarget(): LatchkeyError {
  return new LatchkeyError(
    "PRECONDITION_FAILED",
    "the target no longer belongs to this copy: another one writes to it, or this one was given up",
  );
}

/** @throws LatchkeyError `PRECONDITION_FAILED` if a workspace is no longer in the state in which this copy has put it. */
export async function assertOwnTarget(
  store: KeyStore,
  workspaceId: string,
  state: FoundState,
): Promise<void> {
  const { version } = await readState(store, workspaceId);
  if (version !== state.version) throw notOwnTarget();
}

/**
 * A target that is written to only while a workspace is still in the state in which this copy has put it. A process that stood still for a
 * while, such as one whose machine was asleep, finds out that another one has taken over, and that the target may serve.
 *
 * Changes of the workspace expect its state themselves. Counters and sums cannot: the state is read before they are written.
 */
export function ownTarget(store: KeyStore, workspaceId: string, state: FoundState): KeyStore {
  let checking: Promise<void> | null = null;
  /** Writes that begin together share a check. */
  const checked = () => {
    checking ??= assertOwnTarget(store, workspaceId, state).finally(() => {
      checking = null;
    });
    return checking;
  };
  return interceptStore(store, (call, run) => {
    const expectsState = call.method === "commit" && call.workspaceId === workspaceId;
    if (call.isRead || expectsState) return run();
    return checked().then(run);
  });
}
