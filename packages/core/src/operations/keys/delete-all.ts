import { announce, noteChange } from "../../audit/entry.js";
import type { LoggedChange } from "../../records/audit-entry.js";
import type { Removal } from "../../store/wide-store.js";
import type { EpochMs } from "../../time.js";
import type { OperationContext } from "../context.js";
import { removeAll } from "../delete-in-batches.js";

/** Keys deleted in one step: some milliseconds on every store. */
const BATCH_SIZE = 100;

/**
 * Deletes every key of an API in bounded steps, and lets other work of this process through between them. Each key has
 * its own entry in the audit log.
 *
 * @returns How many keys were deleted.
 */
export async function deleteAllKeys(context: OperationContext, apiId: string): Promise<number> {
  const { deleted } = await removeAll(BATCH_SIZE, (limit) => deleteSomeKeys(context, apiId, limit));
  return deleted;
}

async function deleteSomeKeys(
  context: OperationContext,
  apiId: string,
  limit: number,
): Promise<Removal> {
  const { store, workspaceId, keepsAuditLog } = context;
  const now = context.now();
  const entries = new Map<string, LoggedChange>();
  const entryOf = (keyId: string): LoggedChange => {
    const entry = entries.get(keyId) ?? deletionOf(context, keyId, apiId, now);
    entries.set(keyId, entry);
    return entry;
  };
  const log = keepsAuditLog ? entryOf : null;
  const { deleted, hasMore } = await store.deleteKeys(workspaceId, apiId, limit, now, log);
  if (context.onEvent !== null) announce(context, deleted.map(entryOf));
  return { deleted: deleted.length, hasMore };
}

function deletionOf(
  context: OperationContext,
  keyId: string,
  apiId: string,
  at: EpochMs,
): LoggedChange {
  const before = { apiId };
  return noteChange(context, { type: "key.deleted", at, resourceId: keyId, keyId, before });
}
