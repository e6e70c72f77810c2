import {
  type LoadedRecord,
  NO_USES,
  type RecordKind,
  type StoredRecordState,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import type { Row } from "./engine/database.js";
import type { KeptRecord, Memo } from "./engine/memo.js";
import { KIND_CODE } from "./engine/statements.js";
import { isWhole, readUsage, readWindows } from "./engine/stored-counters.js";

/** Where a row of `statements.ts` has its parts. */
const ID_AT = 7;
const LINKED_AT = 11;
export const REVISION_AT = 22;

/** Reads a row with a record and the identity that it links to. */
export function loadedRecord(kind: RecordKind, row: Row): LoadedRecord {
  const linked = row[LINKED_AT] === null ? null : recordState("identity", row, LINKED_AT);
  const { record, usage, usedAt, handle } = recordState(kind, row, 0);
  return { record, usage, usedAt, handle, linked };
}

/** Keeps what a charge needs of the records of such a row. */
export function keepLoaded({ memo }: Connection, kind: RecordKind, row: Row): void {
  const { generation } = memo;
  const [revision, workspace] = [row[REVISION_AT], row[REVISION_AT + 1] as number];
  const keep = (of: RecordKind, at: number) => {
    const id = row[at + ID_AT] as string;
    keepRecord(memo, row, at, { generation, workspace, kind: KIND_CODE[of], id, revision });
  };
  try {
    keep(kind, 0);
    if (row[LINKED_AT] !== null) keep("identity", LINKED_AT);
  } catch {
    // Whoever charges what is damaged is told.
  }
}

/**
 * Keeps the record whose columns begin at a place of a row, and its counters.
 *
 * @throws LatchkeyError `STORE_CORRUPT` when the counters cannot be what was written.
 */
export function keepRecord(
  memo: Memo,
  row: Row,
  at: number,
  known: Pick<KeptRecord, "generation" | "workspace" | "kind" | "id"> & { revision: unknown },
): KeptRecord {
  const { generation, workspace, kind, id } = known;
  const [seq, counters] = [row[at] as number, row[at + 2] as number | null];
  const version = versionOf(row[at + 1]);
  const revision = wholeOr0(known.revision);
  const record = { generation, seq, workspace, kind, id, version, revision };
  if (counters === null) return memo.keep(record, null);
  const usage = readUsage(row[at + 3], row[at + 4], row[at + 5]);
  return memo.keep(record, { seq: counters, usage, windows: readWindows(row[at + 6]) });
}

/**
 * One record of a row. What is damaged has no body, whatever of it is: core can then still delete it, and uses it for nothing.
 * Its counters, if those are what is damaged, have no uses left; a charge refuses them.
 */
function recordState(kind: RecordKind, row: Row, at: number): StoredRecordState {
  let body: StoredRecordState["record"]["body"];
  let usage = row[at + 2] === null ? null : NO_USES;
  try {
    if (usage !== null) usage = readUsage(row[at + 3], row[at + 4], row[at + 5]);
    body = JSON.parse(row[at + ID_AT + 2] as string);
  } catch {
    body = undefined;
  }
  const [id, link] = [row[at + ID_AT] as string, row[at + ID_AT + 1] as string | null];
  const usedAt = row[at + ID_AT + 3];
  return {
    record: { kind, id, version: wholeOr0(row[at + 1]), link, body },
    usage,
    usedAt: isWhole(usedAt) ? usedAt : null,
    handle: row[at],
  };
}

/** A version that cannot be read is none that anything rests on. */
export function versionOf(value: unknown): number {
  return isWhole(value) ? value : Number.NaN;
}

/** Revisions and sizes that cannot be read are 0. */
export function wholeOr0(value: unknown): number {
  return isWhole(value) ? value : 0;
}
