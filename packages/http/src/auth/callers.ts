import type { Latchkey, RootKeyScope, VerifyScope } from "@latchkey/core";
import { apiScope } from "./held-permissions.js";

/** An authenticated caller: one workspace, and what the caller may do there. */
export interface Caller {
  readonly latchkey: Latchkey;
  readonly permissions: readonly string[];
  /** Bounds the root keys that the caller creates: none gets more permissions than the caller has. */
  readonly rootKeyScope: RootKeyScope;
  /** The APIs whose keys the caller may verify. */
  readonly verifyScope: VerifyScope;
  /** The APIs for whose keys the caller may make reservations. */
  readonly reserveScope: VerifyScope;
  /** The APIs whose reservations the caller may settle, release and renew. */
  readonly settleScope: VerifyScope;
}

/** Returns the caller with these permissions in a workspace. `actor`: null for none. */
export type CallerOf = (
  workspaceId: string,
  actor: string | null,
  permissions: readonly string[],
  rootKeyId?: string,
) => Caller;

/** Maximum number of cached callers, one per workspace and actor. Each takes about 3 kB, including its latchkey. */
const MAX_CALLERS = 10_000;

/**
 * Caches the scopes of a caller, with the latchkey of its workspace and actor: each request only compares the list of permissions, instead
 * of reading it three times.
 *
 * @returns A function that throws TypeError for a malformed workspace id or actor.
 */
export function createCallers(latchkey: Latchkey): CallerOf {
  const kept = new Map<string, Caller>();

  function bind(workspaceId: string, actor: string | null): Latchkey {
    const own = workspaceId === latchkey.workspaceId ? latchkey : latchkey.workspace(workspaceId);
    return actor === null ? own : own.actingAs(actor);
  }

  return (workspaceId, actor, permissions, rootKeyId) => {
    // The length keeps names of different pairs apart, whatever ids and actors a host chooses.
    const workspace = `${workspaceId.length} ${workspaceId}`;
    const name = actor === null ? workspace : `${workspace} ${actor}`;
    const known = kept.get(name);
    // Compared each time, so that a change of permissions takes effect at once.
    if (known !== undefined && isSameList(known.permissions, permissions)) return known;
    const caller: Caller = {
      latchkey: bind(workspaceId, actor),
      permissions: [...permissions],
      rootKeyScope: {
        by: rootKeyId === undefined ? { permissions: [...permissions] } : { rootKeyId },
      },
      verifyScope: apiScope(permissions, "verify_key"),
      reserveScope: apiScope(permissions, "reserve_key"),
      settleScope: apiScope(permissions, "settle_reservation"),
    };
    if (known === undefined && kept.size >= MAX_CALLERS)
      kept.delete(kept.keys().next().value as string);
    kept.set(name, caller);
    return caller;
  };
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}
