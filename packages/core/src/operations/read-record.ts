import { corruptRecord } from "../errors.js";
import type { RecordType } from "../records/record-type.js";
import type { Usage } from "../store/counters.js";
import type { LoadedRecord, Want } from "../store/key-store.js";
import type { Transaction } from "../store/transaction.js";
import { notFound, type OperationContext } from "./context.js";

/** What is missing, in the words of an error. */
export type ResourceName = Parameters<typeof notFound>[0];

/** A record with what the store keeps beside it. */
export interface FoundRecord<Value> {
  readonly value: Value;
  readonly loaded: LoadedRecord;
  /** Of the workspace, when the record was read. */
  readonly revision: number;
}

/** Reads one record. @throws LatchkeyError `NOT_FOUND`, `STORE_CORRUPT` where it is damaged. */
export async function readRecord<Value>(
  { store, workspaceId }: OperationContext,
  type: RecordType<Value>,
  want: Want,
  name: ResourceName,
): Promise<FoundRecord<Value>> {
  const { revision, found } = await store.read(workspaceId, [want]);
  const [loaded = null] = found;
  if (loaded === null) throw notFound(name);
  return { value: type.decode(loaded.record, workspaceId), loaded, revision };
}

/** The use counter of a record that has one. @throws LatchkeyError `STORE_CORRUPT` where it is gone. */
export function usageOf({ record, usage }: LoadedRecord): Usage {
  if (usage === null) throw corruptRecord(`counter of ${record.kind} ${record.id}`);
  return usage;
}

/** Reads one record in a transaction, which then expects this version of it. Errors as {@link readRecord}. */
export async function readRecordIn<Value>(
  transaction: Transaction,
  type: RecordType<Value>,
  want: Want,
  name: ResourceName,
): Promise<FoundRecord<Value>> {
  const loaded = await transaction.readOne(want);
  if (loaded === null) throw notFound(name);
  const value = type.decode(loaded.record, transaction.workspaceId);
  return { value, loaded, revision: transaction.revision };
}
