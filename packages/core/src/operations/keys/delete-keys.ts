import { keysOfApi, keyType } from "../../records/key.js";
import type { RecordList } from "../../records/record-type.js";
import { notFound, type OperationContext, transact, type Work } from "../context.js";
import { decodeOrNull, readStored, versionIfReadable, withoutReadableRecord } from "../damaged.js";
import { deleteInBatches } from "../delete-in-batches.js";
import { apiReference, keyReference } from "../input.js";
import { operation, type TableOf } from "../operation.js";
import { allPages, requireApi } from "../read.js";
import { linksOf, wholeKeyFields } from "./audit-fields.js";
import { readKey } from "./load.js";
import type { KeyOperations } from "./operations.js";

/** Keys deleted in one step: few, for verifications wait meanwhile, and on Redis a step blocks all others. */
const BATCH_SIZE = 20;

export const DELETE_KEYS_TABLE = {
  deleteKey: operation(keyReference, async (context, { keyId }) => {
    await withoutReadableRecord(
      () => transact(context, (work) => deleteReadable(work, keyId)),
      () => transact(context, (work) => deleteDamaged(work, keyId)),
    );
    return {};
  }),

  deleteKeys: operation(apiReference, async (context, { apiId }) => {
    await requireApi(context, apiId);
    return { deletedKeys: await deleteAllKeys(context, apiId) };
  }),
} satisfies Partial<TableOf<KeyOperations>>;

/**
 * Deletes every key of an API in bounded steps, and lets other work of this process through between them. Each key has its own
 * entry in the audit log, which says no more of it than its API and its identity. Racers share the keys out between them: each
 * key is counted by one.
 *
 * @returns How many keys were deleted.
 */
export async function deleteAllKeys(context: OperationContext, apiId: string): Promise<number> {
  const { deleted } = await deleteInBatches(context.timer, BATCH_SIZE, async (limit) => {
    const { answer } = await transact(context, async ({ transaction, audit }) => {
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
        if (key?.apiId === apiId) transaction.delete(keyType, key);
        else
          transaction.deleteAddress({ kind: "key", id: keyId }, [], [{ list: keysOfApi(apiId) }]);
        audit({
          type: "key.deleted",
          at: now,
          resourceId: keyId,
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

async function deleteReadable({ context, transaction, audit }: Work, keyId: string): Promise<void> {
  const loaded = await readKey(context, transaction, keyId);
  transaction.delete(keyType, loaded.key);
  audit({
    type: "key.deleted",
    resourceId: keyId,
    identityId: loaded.identity?.id ?? null,
    before: wholeKeyFields(loaded.key, linksOf(loaded)),
  });
}

/** The record, its API or its identity cannot be read: what is known of the key goes, and it leaves every list it may be in. */
async function deleteDamaged({ context, transaction, audit }: Work, keyId: string): Promise<void> {
  const record = await readStored(transaction, { kind: "key", id: keyId });
  if (record === null) throw notFound("key");
  const { link: identityId } = record;
  audit({ type: "key.deleted", resourceId: keyId, identityId, unreadable: true });
  const key = decodeOrNull(keyType, record, context.workspaceId);
  const address = key && ({ kind: "api", id: key.apiId, expects: "nothing" } as const);
  // The API that it names may be damage as well: then it is in the list of another one.
  if (key !== null && address !== null && (await transaction.readOne(address)) !== null)
    transaction.delete(keyType, key);
  else {
    const claims = key === null ? [] : keyType.claims(key);
    transaction.deleteAddress({ kind: "key", id: keyId }, claims, await listsOfAllApis(context));
  }
}

/** The lists of keys of all APIs: a key whose record cannot be read is in one of them. */
async function listsOfAllApis(context: OperationContext): Promise<readonly RecordList[]> {
  const lists: RecordList[] = [];
  for await (const { found } of allPages(context, "api"))
    for (const { record } of found) lists.push({ list: keysOfApi(record.id) });
  return lists;
}
