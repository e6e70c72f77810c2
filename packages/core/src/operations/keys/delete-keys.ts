import { z } from "zod";
import { keysOfApi, keyType } from "../../records/key.js";
import type { RecordList } from "../../records/record-type.js";
import type { Transaction } from "../../store/transaction.js";
import { type Audit, notFound, type OperationContext, transact } from "../context.js";
import { decodeOrNull, versionIfReadable, withoutReadableRecord } from "../damaged.js";
import { deleteInBatches } from "../delete-in-batches.js";
import { apiReference, id, parseInput } from "../input.js";
import type { Run, TableOf } from "../run.js";
import { wholeKeyFields } from "./audit-fields.js";
import { readKey } from "./load.js";
import type { KeyOperations } from "./operations.js";
import { namesOf } from "./update-key.js";

/** Keys deleted in one step: few, for verifications wait meanwhile, and on Redis a step blocks all others. */
const BATCH_SIZE = 20;

/** APIs read at once. */
const PAGE_SIZE = 1_000;

const deleteKeyInput = z.strictObject({ keyId: id });

const deleteKey: Run<KeyOperations["deleteKey"]> = async (context, input) => {
  const { keyId } = parseInput(deleteKeyInput, input);
  await withoutReadableRecord(
    () =>
      transact(context, (transaction, audit) => deleteReadable(context, transaction, audit, keyId)),
    () =>
      transact(context, (transaction, audit) => deleteDamaged(context, transaction, audit, keyId)),
  );
  return {};
};

const deleteKeys: Run<KeyOperations["deleteKeys"]> = async (context, input) => {
  const { apiId } = parseInput(apiReference, input);
  const { found } = await context.store.read(context.workspaceId, [{ kind: "api", id: apiId }]);
  if (found[0] === null) throw notFound("API");
  return { deletedKeys: await deleteAllKeys(context, apiId) };
};

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

async function deleteReadable(
  context: OperationContext,
  transaction: Transaction,
  audit: Audit,
  keyId: string,
): Promise<void> {
  const { key, identity, direct } = await readKey(context, transaction, keyId);
  transaction.delete(keyType, key);
  audit({
    type: "key.deleted",
    resourceId: keyId,
    identityId: identity?.id ?? null,
    before: wholeKeyFields(key, {
      recoverable: key.sealedSecret !== null,
      externalId: identity?.externalId,
      roles: namesOf(direct.roles),
      permissions: namesOf(direct.permissions),
    }),
  });
}

/** The record, its API or its identity cannot be read: what is known of the key goes, and it leaves every list it may be in. */
async function deleteDamaged(
  context: OperationContext,
  transaction: Transaction,
  audit: Audit,
  keyId: string,
): Promise<void> {
  const found = await transaction.readOne({ kind: "key", id: keyId, expects: "nothing" });
  if (found === null) throw notFound("key");
  const { record, handle } = found;
  transaction.expect({ kind: "key", id: keyId, version: versionIfReadable(record), handle });
  audit({
    type: "key.deleted",
    resourceId: keyId,
    identityId: record.link,
    unreadable: true,
  });
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
async function listsOfAllApis({
  store,
  workspaceId,
}: OperationContext): Promise<readonly RecordList[]> {
  const lists: RecordList[] = [];
  let after: string | null = null;
  for (;;) {
    const { found, hasMore } = await store.page(workspaceId, {
      kind: "api",
      list: "api",
      after,
      limit: PAGE_SIZE,
    });
    for (const { record } of found) lists.push({ list: keysOfApi(record.id) });
    after = found.at(-1)?.record.id ?? null;
    if (!hasMore || after === null) return lists;
  }
}

/** How the operations run that delete keys. */
export const DELETE_KEYS_TABLE = {
  deleteKey: { run: deleteKey, input: deleteKeyInput },
  deleteKeys: { run: deleteKeys, input: apiReference },
} satisfies Partial<TableOf<KeyOperations>>;
