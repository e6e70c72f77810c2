import { type KeyStore, LatchkeyError, type WorkspaceState } from "@latchkey/core";
import { assertStore, checkOptions } from "../options.js";
import { workspacesOf } from "../passes/source.js";
import { type FoundState, readState, replaceState } from "../state.js";

/** Options of {@link takeBack}. */
export interface TakeBackOptions {
  /**
   * Cancels the copy even if the target already serves, in which case the target is closed first, or is lost: then pass null for it.
   * Uses that the target admitted are not counted on the source.
   */
  readonly force?: boolean;
}

/**
 * Cancels a live copy: the source is in charge again, at once. First the target is closed, then the source is opened, so the two never
 * serve at the same time.
 *
 * @param to - Null if the target is lost. This needs `force`, because nothing can stop such a target from serving if it comes back.
 * @throws TypeError naming a wrong option.
 * @throws LatchkeyError `PRECONDITION_FAILED` without `force`, if a workspace is already open on the target, if the target has no
 * record of this copy, or if `to` is null.
 */
export async function takeBack(
  from: KeyStore,
  to: KeyStore | null,
  options: TakeBackOptions = {},
): Promise<void> {
  checkOptions("takeBack", options, { force: "boolean" });
  assertStore("from", from);
  if (to !== null) assertStore("to", to);
  const { force = false } = options;
  if (to === null && !force) throw refusal("the target may still be serving");
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
    `${why}: the source cannot be taken back unless forced`,
  );
}
