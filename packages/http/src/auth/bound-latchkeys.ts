import type { Latchkey } from "@latchkey/core";

/** Most latchkeys kept, one for each workspace and actor: some kilobytes each. */
const MAX_BOUND = 1_000;

/** Answers the operations of a workspace on behalf of someone, or of nobody in particular. */
export type BindLatchkey = (workspaceId: string, actor: string | null) => Latchkey;

/**
 * Binds a latchkey to workspaces and actors, and keeps those that were bound: a caller comes with many requests, and to bind
 * anew for each would cost a verification more than anything else before its operation.
 *
 * @returns A function that throws TypeError for a workspace or actor that none can be.
 */
export function createBinder(latchkey: Latchkey): BindLatchkey {
  const kept = new Map<string, Latchkey>();
  return (workspaceId, actor) => {
    // With the length, so that no workspace that a host makes up and no actor run into another pair of the two.
    const workspace = `${workspaceId.length} ${workspaceId}`;
    const name = actor === null ? workspace : `${workspace} ${actor}`;
    const known = kept.get(name);
    if (known !== undefined) return known;
    const own = workspaceId === latchkey.workspaceId ? latchkey : latchkey.workspace(workspaceId);
    const bound = actor === null ? own : own.actingAs(actor);
    if (kept.size >= MAX_BOUND) kept.delete(kept.keys().next().value as string);
    kept.set(name, bound);
    return bound;
  };
}
