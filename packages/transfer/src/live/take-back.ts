import { type KeyStore, LatchkeyError, type WorkspaceState } from "@latchkey/core";
import { workspacesOf } from "../passes/source.js";
import { type FoundState, readState, replaceState } from "../state.js";

/** Options of {@link takeBack}. */
export interface TakeBackOptions {
  /**
   * The source is to be in charge whatever became of the target: one that serves is closed first, one that is lost is given as
   * null. What it admitted is not counted on the source.
   */
  readonly force?: boolean;
}

/**
 * Gives a live copy up: the source is in charge again, at once. First the target is taken away from whoever might still open it, or
 * uses it; the fence is lifted behind that, so that there is no moment at which both serve.
 *
 * @param to - Null for a target that is lost, which needs `force`: nothing can keep it from serving, should it come back.
 * @throws LatchkeyError `PRECONDITION_FAILED` without `force`, where a workspace was opened on the target, where the target knows
 * nothing of this copy, and where there is none.
 */
export async function takeBack(
  from: KeyStore,
  to: KeyStore | null,
  { force = false }: TakeBackOptions = {},
): Promise<void> {
  if (to === null && !force) throw refusal("nothing says that the target does not serve");
  const sources = await statesOf(from, await workspacesOf(from));
  const targets = to === null ? [] : await statesOf(to, [...sources.keys()]);
  const taken: [string, FoundState, WorkspaceState][] = [];
  for (const [id, target] of targets) {
    const { state } = target;
    const source = sources.get(id)?.state ?? null;
    const isOfCopy = state !== null && state.transfer === source?.transfer;
    const serves = state?.state === "open";
    if (!force && (serves || (source?.state === "moved" && !isOfCopy)))
      throw refusal("the keys have arrived on the target, or went to another one");
    if (state?.state === "incomplete" || (serves && isOfCopy))
      taken.push([id, target, { ...state, state: "incomplete" }]);
  }
  if (to !== null)
    for (const [id, target, state] of taken) await replaceState(to, id, target, state);
  for (const [id, source] of sources)
    if (source.state !== null && source.state.state !== "deleting")
      await replaceState(from, id, source, null);
}

async function statesOf(
  store: KeyStore,
  workspaceIds: readonly string[],
): Promise<ReadonlyMap<string, FoundState>> {
  const states = new Map<string, FoundState>();
  for (const id of workspaceIds) states.set(id, await readState(store, id));
  return states;
}

function refusal(why: string): LatchkeyError {
  return new LatchkeyError(
    "PRECONDITION_FAILED",
    `${why}: the source cannot be taken back, unless it is forced`,
  );
}
