import { isCorruptRecord } from "../errors.js";
import type { RecordType } from "../records/record-type.js";
import type { StoredRecord } from "../records/stored-record.js";

/** A record, or null where it is damaged. */
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

/** What a commit expects of a record that may be damaged: its version itself may be what cannot be read. */
export function versionIfReadable({ version }: Pick<StoredRecord, "version">): number | "exists" {
  return version >= 1 ? version : "exists";
}

/**
 * Revokes something whose record may be damaged: nobody must have to mend a key before revoking it.
 *
 * @param revoke - The usual way, which reads the record.
 * @param revokeDamaged - Does without what cannot be read.
 */
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
