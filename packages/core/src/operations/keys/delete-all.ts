import { keysOfApi, keyType } from "../../records/key.js";
import { type OperationContext, transact } from "../context.js";
import { decodeOrNull, versionIfReadable } from "../damaged.js";
import { deleteInBatches } from "../delete-in-batches.js";

/** Keys deleted in one step: few, for verifications wait meanwhile, and on Redis a step blocks all others. */
const BATCH_SIZE = 20;

/**
 * Deletes every key of an API in bounded steps, and lets other work of this process through between them. Each key has its own
 * entry in the audit log, which says no more of it than its API and its identity. Racers share the keys out between them: each
 * key is counted by one.
 *
 * @returns How many keys were deleted.
 */
export async function deleteAllKeys(context: OperationContext, apiId: string): Promise<number> {
  const { deleted } = await deleteInBatches(context.timer, BATCH_SIZE, async (limit) => {
    const { answer } = await transact(context, async (transaction, audit) => {
      const { found, hasMore } = await context.store.page(context.workspaceId, {
        kind: "key",
        list: keysOfApi(apiId),
        after: null,
        limit,
      });
      const now = context.now();
      for (const loaded of found) {
        const { id: keyId, link: identityId } = loaded.record;
        // A key that moved to another identity meanwhile is in another list; but moving keys must not hold this up for good.
        const version = transaction.isRetry ? "exists" : versionIfReadable(loaded.record);
        transaction.expect({ kind: "key", id: keyId, version, handle: loaded.handle });
        const key = decodeOrNull(keyType, loaded.record, context.workspaceId);
        if (key !== null) transaction.delete(keyType, key);
        else
          transaction.deleteAddress({ kind: "key", id: keyId }, [], [{ list: keysOfApi(apiId) }]);
        audit({
          type: "key.deleted",
          at: now,
          resourceId: keyId,
          keyId,
          identityId,
          unreadable: key === null,
          before: { apiId },
        });
      }
      return { deleted: found.length, hasMore };
    });
    return answer;
  });
  return deleted;
}
