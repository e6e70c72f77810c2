import {
  type JsonValue,
  type LoadedRecord,
  NO_USES,
  type RecordKind,
  type StoredRecordState,
} from "@latchkey/core";
import type { Row } from "./engine/database.js";
import type { KeptRecord, Memo } from "./engine/memo.js";
import { isWhole, readUsage, readWindows } from "./engine/stored-counters.js";

/** What the column `kind` holds. Never to be changed: files have it, and so do the views. */
export const KIND_CODE: { readonly [Kind in RecordKind]: number } = {
  workspace: 1,
  api: 2,
  key: 3,
  identity: 4,
  role: 5,
  permission: 6,
  rootKey: 7,
  rootKeyPointer: 8,
  auditEntry: 9,
};

/** The columns that {@link keepRecord} reads, of a record and its counters under these names. */
const keptColumns = (record: string, counters: string) =>
  `${record}.seq, ${record}.version, ${record}.counters, ${counters}.remaining, ${counters}.refilled_at,
  ${counters}.last_refill_at, ${counters}.windows`;
export const KEPT = keptColumns("r", "c");

const ID_AT = 7;
const LINKED_AT = 11;
/** Where a row of {@link LOADED} has the revision of the workspace. */
export const REVISION_AT = 22;

/** A record `r` and the identity `l` that it links to, with what is kept beside them, as {@link loadedRecord} reads them. */
export const LOADED = `SELECT ${KEPT}, r.id, r.link, r.body, u.at, ${keptColumns("l", "d")}, l.id, l.link, l.body, v.at, w.revision`;

/** The tables of {@link LOADED} beside `r`. */
export const BESIDE = `JOIN latchkey_workspace w ON w.seq = r.workspace
  LEFT JOIN latchkey_counters c ON c.seq = r.counters
  LEFT JOIN latchkey_used u ON u.record = r.seq
  LEFT JOIN latchkey_record l ON l.workspace = r.workspace AND l.kind = ${KIND_CODE.identity} AND l.id = r.link
  LEFT JOIN latchkey_counters d ON d.seq = l.counters
  LEFT JOIN latchkey_used v ON v.record = l.seq`;

/** Reads a row of {@link LOADED}. */
export function loadedRecord(kind: RecordKind, row: Row): LoadedRecord {
  const linked = row[LINKED_AT] === null ? null : recordState("identity", row, LINKED_AT);
  const { record, usage, usedAt, handle } = recordState(kind, row, 0);
  return { record, usage, usedAt, handle, linked };
}

/** Keeps what a charge needs of the records of a row of {@link LOADED}, unless it is damaged. */
export function keepLoaded(memo: Memo, kind: RecordKind, row: Row, workspace: number): void {
  const { generation } = memo;
  const keep = (of: RecordKind, at: number) => {
    const address = [workspace, KIND_CODE[of], row[at + ID_AT] as string] as const;
    keepRecord(memo, row, at, address, row[REVISION_AT], generation);
  };
  try {
    keep(kind, 0);
    if (row[LINKED_AT] !== null) keep("identity", LINKED_AT);
  } catch {
    // Whoever charges it is told.
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
  [workspace, kind, id]: readonly [workspace: number, kind: number, id: string],
  storedRevision: unknown,
  generation: number,
): KeptRecord {
  const seq = row[at] as number;
  const counters = row[at + 2] as number | null;
  if (counters !== null) {
    const usage = readUsage(row[at + 3], row[at + 4], row[at + 5]);
    const windows = readWindows(row[at + 6]);
    memo.counters.set(counters, { generation, seq: counters, usage, windows });
  }
  const revision = wholeOr0(storedRevision);
  const version = versionOf(row[at + 1]);
  const record = { generation, seq, workspace, kind, id, version, revision, counters };
  memo.records.set(seq, record);
  return record;
}

/**
 * One record of a row. What is damaged has no body, whatever of it is: core can then still delete it, and uses it for nothing.
 * Its counters, if those are what is damaged, have no uses left; a charge refuses them.
 */
function recordState(kind: RecordKind, row: Row, at: number): StoredRecordState {
  let body: JsonValue | undefined;
  let usage = row[at + 2] === null ? null : NO_USES;
  try {
    if (usage !== null) usage = readUsage(row[at + 3], row[at + 4], row[at + 5]);
    body = JSON.parse(row[at + ID_AT + 2] as string);
  } catch {
    body = undefined;
  }
  const version = wholeOr0(row[at + 1]);
  const id = row[at + ID_AT] as string;
  const link = row[at + ID_AT + 1] as string | null;
  const usedAt = row[at + ID_AT + 3];
  return {
    record: { kind, id, version, link, body },
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
