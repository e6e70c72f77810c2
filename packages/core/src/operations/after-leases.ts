import { hasCode } from "../errors.js";
import type { AvailableStore } from "../store/availability.js";
import type { SpanMs } from "../time.js";

/** Writes that take nothing away: no older lease contradicts them. Every other write waits for all leases that were granted before it. */
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
  // It waits by itself: when it has resolved, the store no longer knows for how long to wait.
  "deleteWorkspace",
  "notice",
  "pruneAuditEvents",
  "pruneVerifications",
  "reencryptKeys",
]);

/** Whether a call increments or decrements the remaining uses: neither concerns uses that a process has taken ahead. */
export function isRelative(input: unknown): boolean {
  try {
    // An inherited field or a getter may return something else when the operation reads it.
    const op: unknown = Object.getOwnPropertyDescriptor(Object(input), "op")?.value;
    return op === "increment" || op === "decrement";
  } catch {
    // The operation refuses an input that cannot be read.
    return false;
  }
}

/**
 * Resolves, or rejects with `NOT_FOUND`, once every lease granted before has ended: from then on, no process contradicts the answer. Other
 * errors reject at once.
 *
 * @param wait - Waits until all leases granted so far have ended.
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
    // Another call may have deleted the record and still be waiting for leases.
    if (hasCode(error, "NOT_FOUND")) await wait();
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
    // If leases were started again, they stay. Otherwise look again: another call may be ending newer leases, which last longer.
    if (ended.times?.grant !== 0) return;
  }
}
