import { LatchkeyError } from "../errors.js";
import type { AvailableStore } from "../store/availability.js";
import type { SpanMs } from "../time.js";

/**
 * Writes that take nothing away from anybody: a process that decides on a lease, and does not know of them yet, contradicts none.
 * Every other write waits until the leases have ended that were given before it.
 */
export const NO_WAITING: ReadonlySet<string> = new Set([
  "createApi",
  "ensureApi",
  "createKey",
  "createKeys",
  "createIdentity",
  "createPermission",
  "ensurePermissions",
  "createRole",
  "createPortalSession",
  "createRootKey",
  "updateRootKey",
  "rotateRootKey",
  "revokeRootKey",
  "createWorkspace",
  // It waits by itself, for as long as anybody knows for how long.
  "deleteWorkspace",
  "notice",
  "pruneAuditEvents",
  "pruneVerifications",
  "reencryptKeys",
]);

/** Whether a call adds uses to those that are left, or takes some of them: neither is about what a process has taken ahead. */
export function isRelative(input: unknown): boolean {
  try {
    // What is inherited, or answers anew each time, may be something else when the operation reads it.
    const op: unknown = Object.getOwnPropertyDescriptor(Object(input), "op")?.value;
    return op === "increment" || op === "decrement";
  } catch {
    // It cannot be read, and is refused.
    return false;
  }
}

/**
 * Resolves, or rejects because there was nothing to do, once every lease has ended that was given before: from then on no process
 * contradicts what it says.
 *
 * @param wait - For as long as leases are by then.
 * @see packages/core/decisions/0051-leases-end-before-a-change-resolves.md
 */
export async function afterLeases<Answer>(
  running: Promise<Answer>,
  wait: () => Promise<void>,
): Promise<Answer> {
  try {
    const answer = await running;
    await wait();
    return answer;
  } catch (error) {
    // Another call may have deleted it, and not have resolved.
    if (error instanceof LatchkeyError && error.code === "NOT_FOUND") await wait();
    throw error;
  }
}

/** Ends the leases of a workspace: grants no new ones, waits for the last one to end, and then changes no longer wait. */
export async function endLeases(
  store: Pick<AvailableStore, "changeLeases">,
  workspaceId: string,
  wait: (ms: SpanMs) => Promise<void>,
): Promise<void> {
  for (;;) {
    const { times, version } = await store.changeLeases(
      workspaceId,
      (before) => before && { ...before, grant: 0 },
    );
    if (times === null || times.wait === 0) return;
    await wait(times.wait);
    const ended = await store.changeLeases(workspaceId, (now, versionNow) =>
      versionNow === version ? { grant: 0, wait: 0 } : now,
    );
    // There were new ones meanwhile, which another call is ending: they may be out for longer.
    if (ended.times?.grant !== 0) return;
  }
}
