import { type KeyRecord, keysOfApi, keyType } from "../../records/key.js";
import type { RecordList, StoredRecord } from "../../records/record-type.js";
import type { LoadedKey } from "../../verification/loaded-key.js";
import { notFound, transact, type Work } from "../context.js";
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

/** For a key whose record, API or identity is damaged: deletes what is known of it, and removes it from every list that it may be in. */
export async function deleteDamaged(work: Work, keyId: string) {
  const { context, transaction, audit } = work;
  const record = await readStored(transaction, { kind: "key", id: keyId });
  if (record === null) throw notFound("key");
  const { link: identityId } = record;
  audit({ type: "key.deleted", resourceId: keyId, identityId, unreadable: true });
  const key = decodeOrNull(keyType, record, context);
  const address = key && ({ kind: "api", id: key.apiId, expects: "nothing" } as const);
  // The API that the record names may be wrong as well: then the key is in the list of another one.
  const apiId = address && (await transaction.readOne(address)) && address.id;
  await deleteListed(work, record, key, apiId);
  return {};
}

/** Deletes a key, readable or not, with what is known of it. `apiId`: API in whose list it is; null for any. */
export async function deleteListed(
  { context, transaction }: Work,
  { id, link }: StoredRecord,
  key: KeyRecord | null,
  apiId: string | null,
): Promise<void> {
  if (key !== null && key.apiId === apiId) {
    transaction.delete(keyType, key);
    return;
  }
  const claims = key === null ? [] : keyType.claims(key);
  const lists: RecordList[] = [];
  if (apiId !== null) lists.push({ list: keysOfApi(apiId) });
  else for await (const other of apiIds(context)) lists.push({ list: keysOfApi(other) });
  const own = link === null ? [] : lists.map((list) => ({ ...list, of: link }));
  transaction.deleteAddress({ kind: "key", id }, claims, [...lists, ...own]);
}
