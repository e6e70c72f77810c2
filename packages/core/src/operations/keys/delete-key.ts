import { z } from "zod";
import { keyType } from "../../records/key.js";
import type { Transaction } from "../../store/transaction.js";
import { type Audit, notFound, type OperationContext, transact } from "../context.js";
import { decodeOrNull, versionIfReadable, withoutReadableRecord } from "../damaged.js";
import { flag, id, parseInput } from "../input.js";
import { listsOfAllApis } from "./all-lists.js";
import { wholeKeyFields } from "./audit-fields.js";
import { namesOf } from "./change.js";
import { readKey } from "./load.js";

/** Input of deleteKey. */
export interface DeleteKeyInput {
  /** Id of the key. */
  readonly keyId: string;
  /** Accepted for older clients, without effect: a deletion keeps nothing. */
  readonly permanent?: boolean | undefined;
}

/** Schema of the input of deleteKey. */
export const deleteKeyInput = z.strictObject({ keyId: id, permanent: flag.default(false) });

/** @see KeyOperations.deleteKey */
export async function deleteKey(
  context: OperationContext,
  input: DeleteKeyInput,
): Promise<Record<string, never>> {
  const { keyId } = parseInput(deleteKeyInput, input);
  await withoutReadableRecord(
    () =>
      transact(context, (transaction, audit) => deleteReadable(context, transaction, audit, keyId)),
    () =>
      transact(context, (transaction, audit) => deleteDamaged(context, transaction, audit, keyId)),
  );
  return {};
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
    at: context.now(),
    resourceId: keyId,
    keyId,
    identityId: identity?.id ?? null,
    before: wholeKeyFields(key, {
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
    at: context.now(),
    resourceId: keyId,
    keyId,
    identityId: record.link,
    unreadable: true,
  });
  const key = decodeOrNull(keyType, record, context.workspaceId);
  if (key !== null) transaction.delete(keyType, key);
  else transaction.deleteAddress({ kind: "key", id: keyId }, [], await listsOfAllApis(context));
}
