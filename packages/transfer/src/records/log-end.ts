import type { KeyStore, StoredRecord } from "@latchkey/core";
import { aChange } from "./changes.js";
import { commit, type Target } from "./write.js";

/** The list of the audit log. */
export const LOG = "auditEntry";

/** The highest entry number that a backup may contain. Not far above it, numbers are no longer exact. */
export const HIGHEST_NUMBER: number = 2 ** 52;

/** The highest number that an entry of the audit log ever had. The next entry follows it, even if all entries were deleted. */
export async function readLogEnd(store: KeyStore, workspaceId: string): Promise<number> {
  const from = { version: Number.MAX_SAFE_INTEGER, id: "" };
  const want = { kind: LOG, list: LOG, after: null, limit: 1, from } as const;
  return (await store.page(workspaceId, want)).last ?? 1;
}

/**
 * Raises the highest number of the target's log, which is too low if the source deleted its last entries. It writes an entry with that
 * number, and deletes it. If an interruption leaves the entry, the next pass deletes it, like any other that the source does not have.
 *
 * @returns Whether it was raised.
 */
export async function raiseLogEnd(target: Target, last: number): Promise<boolean> {
  const { store, workspaceId } = target;
  if ((await readLogEnd(store, workspaceId)) >= last) return false;
  const id = "evt_end";
  const body = { type: "workspace.updated", at: 0, resourceId: workspaceId };
  const record: StoredRecord = { kind: LOG, id, version: last, link: null, body };
  const entry = { list: LOG, id };
  await commit(target, aChange({ puts: [{ record }], enters: [entry] }));
  await commit(target, aChange({ deletes: [{ kind: LOG, id }], leaves: [entry] }));
  return true;
}
