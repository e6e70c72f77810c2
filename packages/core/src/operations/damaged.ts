import type { AuditFields, ChangeDescription } from "../audit/entry.js";
import { isCorruptRecord } from "../errors.js";
import type { RecordType, StoredRecord } from "../records/record-type.js";
import type { RecordAddress } from "../store/change.js";
import type { LoadedRecord } from "../store/key-store.js";
import type { Transaction } from "../store/transaction.js";
import { notFound } from "./context.js";

/** A record of a workspace, or null if there is none or it is damaged. */
export function decodeOrNull<Value>(
  type: RecordType<Value>,
  record: StoredRecord | null | undefined,
  { workspaceId }: Pick<Transaction, "workspaceId">,
): Value | null {
  try {
    return record ? type.decode(record, workspaceId) : null;
  } catch (error) {
    if (isCorruptRecord(error)) return null;
    throw error;
  }
}

/** Reads a record that may be damaged anywhere; null for none. The transaction then expects it to stay unchanged, or absent. */
export async function readStored(
  transaction: Transaction,
  address: RecordAddress,
): Promise<StoredRecord | null> {
  const found = await transaction.readOne({ ...address, expects: "nothing" });
  if (found === null) transaction.expectAbsent(address);
  else transaction.expectFound(found);
  return found?.record ?? null;
}

/** Deletes a record that was read; a damaged one also from the small list `of`. @returns Null for a damaged one. */
export function deleteStored<Value>(
  transaction: Transaction,
  type: RecordType<Value>,
  record: StoredRecord,
  of?: string,
): Value | null {
  const { kind, id } = record;
  const value = decodeOrNull(type, record, transaction);
  const small = of === undefined ? [] : [{ list: kind, of }];
  if (value === null) transaction.deleteAddress({ kind, id }, [], [{ list: kind }, ...small]);
  else transaction.delete(type, value);
  return value;
}

/** Deletes a record, even a damaged one. @returns The record; null if it was damaged, undefined if there was none. */
export async function deleteRecord<Value>(
  transaction: Transaction,
  type: RecordType<Value>,
  id: string,
): Promise<Value | null | undefined> {
  const record = await readStored(transaction, { kind: type.kind, id });
  return record === null ? undefined : deleteStored(transaction, type, record);
}

/** The same for a record that must exist. @throws LatchkeyError `NOT_FOUND`. */
export async function deleteExisting<Value>(
  transaction: Transaction,
  type: RecordType<Value>,
  id: string,
): Promise<Value | null> {
  const deleted = await deleteRecord(transaction, type, id);
  if (deleted === undefined) throw notFound(type.kind);
  return deleted;
}

/** Deletes the records of a page in any version, damaged ones too. `of`: the small list that they were read from. */
export function deleteFound<Value>(
  transaction: Transaction,
  type: RecordType<Value>,
  found: readonly LoadedRecord[],
  of?: string,
): void {
  for (const loaded of found) {
    transaction.expectFound(loaded, "exists");
    deleteStored(transaction, type, loaded.record, of);
  }
}

/** What an audit entry says about a deleted record. `value`: null if the record could not be read. */
export function deletedFields<Value>(
  value: Value | null,
  fieldsOf: (value: Value) => AuditFields,
): Pick<ChangeDescription, "before" | "unreadable"> {
  return value === null ? { unreadable: true } : { before: fieldsOf(value) };
}

/** Revokes in the usual way or, if a record is damaged, in a way that works without it: revoking must not need a repair first. */
export async function withoutReadableRecord<Result>(
  revoke: () => Promise<Result>,
  revokeDamaged: () => Promise<Result>,
): Promise<Result> {
  try {
    return await revoke();
  } catch (error) {
    if (!isCorruptRecord(error)) throw error;
    return revokeDamaged();
  }
}
