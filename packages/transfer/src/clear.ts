import type { KeyStore } from "@latchkey/core";
import { ownTarget } from "./own-target.js";
import { Pass } from "./passes/reconcile.js";
import { emptyParts } from "./passes/source.js";
import { SharedCounters } from "./records/shared-counters.js";
import { deleteSums } from "./records/write-sums.js";
import { expectState, type FoundState, replaceState } from "./state.js";

/**
 * Deletes the contents of incomplete workspaces. They stay incomplete, and another process that is still writing fails at its
 * next change.
 *
 * @returns Their current states.
 */
export async function clear(
  store: KeyStore,
  found: ReadonlyMap<string, FoundState>,
): Promise<ReadonlyMap<string, FoundState>> {
  const states = new Map<string, FoundState>();
  for (const [id, before] of found)
    states.set(id, await replaceState(store, id, before, before.state));
  const targetOf = (workspaceId: string) => {
    const state = states.get(workspaceId) as FoundState;
    return {
      store: ownTarget(store, workspaceId, state),
      workspaceId,
      expects: [expectState(state)],
      shared: new SharedCounters(),
    };
  };
  // Sums go first, day by day: the pass would delete them subject by subject.
  for (const id of states.keys()) await deleteSums(targetOf(id).store, id);
  await new Pass({ targetOf }).run(emptyParts([...states.keys()]));
  return states;
}
