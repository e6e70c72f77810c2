import type { Latchkey, RootKeyScope, VerifyScope } from "@latchkey/core";
import { apiScope } from "./held-permissions.js";

/** An authenticated caller: one workspace, and what the caller may do there. */
export interface Caller {
  readonly latchkey: Latchkey;
  readonly permissions: readonly string[];
  /** Who makes the root keys that it makes: no root key gets more than it has. */
  readonly rootKeyScope: RootKeyScope;
  /** The APIs whose keys the caller can verify, as its permissions say. */
  readonly verifyScope: VerifyScope;
  /** Those for whose keys it can make reservations. */
  readonly reserveScope: VerifyScope;
  /** Those whose reservations it can settle, release and renew. */
  readonly settleScope: VerifyScope;
}

/** The caller with these permissions in a workspace; the actor is optional. */
export type CallerOf = (
  workspaceId: string,
  actor: string | null,
  permissions: readonly string[],
  rootKeyId?: string,
) => Caller;

/** Callers that are kept, one for each workspace and actor. With its latchkey, each takes about 20 kB. */
const MAX_CALLERS = 1_000;

/**
 * Caches what follows from the permissions of a caller, beside the latchkey of its workspace and actor: with each request the list is
 * compared, and not read three times.
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
    // With its length, so that no two pairs of workspace and actor share a name, whatever a host makes up.
    const workspace = `${workspaceId.length} ${workspaceId}`;
    const name = actor === null ? workspace : `${workspace} ${actor}`;
    const known = kept.get(name);
    // Compared each time: a caller's permissions are what they are now, never what they were.
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
