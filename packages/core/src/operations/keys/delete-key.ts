import { keysOfApi, keyType } from "../../records/key.js";
import type { RecordList } from "../../records/record-type.js";
import type { LoadedKey } from "../../verification/loaded-key.js";
import { notFound, type OperationContext, transact, type Work } from "../context.js";
import { decodeOrNull, readStored, withoutReadableRecord } from "../damaged.js";
import { keyReference } from "../input.js";
import { operation } from "../operation.js";
import { apiIds } from "../read.js";
import { linksOf, wholeKeyFields } from "./audit-fields.js";
import { readKey } from "./load.js";

export const deleteKey = operation(keyReference, (context, { keyId }) =>
  withoutReadableRecord(
    () =>
      transact(context, async (work) => {
        deleteLoaded(work, await readKey(context, work.transaction, keyId));
        return {};
      }),
    () => transact(context, (work) => deleteDamaged(work, keyId)),
  ),
);

/** Deletes a key that was read in this transaction. */
export function deleteLoaded({ transaction, audit }: Work, loaded: LoadedKey): void {
  transaction.delete(keyType, loaded.key);
  audit({
    type: "key.deleted",
    resourceId: loaded.key.id,
    identityId: loaded.identity?.id ?? null,
    before: wholeKeyFields(loaded.key, linksOf(loaded)),
  });
}

/** The record, its API or its identity is damaged: deletes what is known of the key, and removes it from every list that it may be in. */
export async function deleteDamaged({ context, transaction, audit }: Work, keyId: string) {
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
  return {};
}

/** The lists of keys of all APIs: a key whose record cannot be read is in one of them. */
export async function listsOfAllApis(context: OperationContext): Promise<readonly RecordList[]> {
  const lists: RecordList[] = [];
  for await (const apiId of apiIds(context)) lists.push({ list: keysOfApi(apiId) });
  return lists;
}
