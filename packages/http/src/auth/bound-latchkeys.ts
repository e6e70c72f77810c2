import type { Latchkey } from "@latchkey/core";

/** Bound latchkeys that are kept, one for each workspace and actor. Each takes a few kilobytes. */
const MAX_BOUND = 1_000;

/** The operations of one workspace, done by an actor or by nobody in particular. */
export type BindLatchkey = (workspaceId: string, actor: string | null) => Latchkey;

/**
 * Binds a latchkey to workspaces and actors, and keeps what it bound: a caller sends many requests, and binding anew for
 * each would cost a verification more than anything else before its operation.
 *
 * @returns A function that throws TypeError for a malformed workspace id or actor.
 */
export function createBinder(latchkey: Latchkey): BindLatchkey {
  const bound = new Map<string, Latchkey>();
  return (workspaceId, actor) => {
    // With its length, so that no two pairs of workspace and actor share a name, whatever a host makes up.
    const workspace = `${workspaceId.length} ${workspaceId}`;
    const name = actor === null ? workspace : `${workspace} ${actor}`;
    const known = bound.get(name);
    if (known !== undefined) return known;
    const own = workspaceId === latchkey.workspaceId ? latchkey : latchkey.workspace(workspaceId);
    const added = actor === null ? own : own.actingAs(actor);
    if (bound.size >= MAX_BOUND) bound.delete(bound.keys().next().value as string);
    bound.set(name, added);
    return added;
  };
}
