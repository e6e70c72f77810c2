import type { AuditFields, ChangeDescription } from "../audit/entry.js";
import { isCorruptRecord } from "../errors.js";
import type { RecordType, StoredRecord } from "../records/record-type.js";
import type { RecordAddress } from "../store/change.js";
import type { Transaction } from "../store/transaction.js";

/** A record, or null if it is damaged. */
export function decodeOrNull<Value>(
  type: RecordType<Value>,
  record: StoredRecord,
  workspaceId: string,
): Value | null {
  try {
    return type.decode(record, workspaceId);
  } catch (error) {
    if (isCorruptRecord(error)) return null;
    throw error;
  }
}

/** The version that a commit expects of a record that may be damaged; `exists` if the version itself cannot be read. */
export function versionIfReadable({ version }: Pick<StoredRecord, "version">): number | "exists" {
  return version >= 1 ? version : "exists";
}

/** Reads a record that may be damaged anywhere; the transaction then expects it to stay unchanged. Null for none. */
export async function readStored(
  transaction: Transaction,
  address: RecordAddress,
): Promise<StoredRecord | null> {
  const found = await transaction.readOne({ ...address, expects: "nothing" });
  if (found === null) return null;
  const { record, handle } = found;
  transaction.expect({ ...address, version: versionIfReadable(record), handle });
  return record;
}

/** Deletes a record that was read; a damaged one also from the small list `of`. @returns Null for a damaged one. */
export function deleteStored<Value>(
  transaction: Transaction,
  type: RecordType<Value>,
  record: StoredRecord,
  of?: string,
): Value | null {
  const { kind, id } = record;
  const value = decodeOrNull(type, record, transaction.workspaceId);
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
  const address = { kind: type.kind, id };
  const record = await readStored(transaction, address);
  if (record !== null) return deleteStored(transaction, type, record);
  // The commit must expect that it is absent: a store that failed over may have it back by then.
  transaction.expect({ ...address, version: null });
  return undefined;
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
