import {
  isWhole,
  type LoadedRecord,
  NO_USES,
  type RecordAddress,
  type RecordKind,
  type StoredRecordState,
} from "@latchkey/core";
import { readCounters, readUsage } from "./engine/counters.js";
import type { Row } from "./engine/database.js";
import type { KeptRecord, Memo } from "./engine/memo.js";

// Where the rows of `statements.ts` have their parts.
const ID_AT = 7;
export const LINK_AT = 8;
const LINKED_AT = 11;
export const REVISION_AT = 22;
const WORKSPACE_AT = 23;

/** Reads a row with a record and the identity that it links to. @param memo - Of their connection, for who is about to charge them. */
export function loadedRecord(kind: RecordKind, row: Row, memo: Memo | null): LoadedRecord {
  const linked = row[LINKED_AT] === null ? null : recordState("identity", row, LINKED_AT, memo);
  return { ...recordState(kind, row, 0, memo), linked };
}

/** Reads rows without an identity. Those that they link to come by themselves: many keys of a page may be of one. */
export function loadedRecords(kind: RecordKind, rows: readonly Row[], identities: readonly Row[]) {
  const linked = new Map(identities.map((row) => [row[ID_AT], recordState("identity", row, 0)]));
  return rows.map((row): LoadedRecord => {
    const state = recordState(kind, row, 0);
    return { ...state, linked: linked.get(state.record.link) ?? null };
  });
}

/** What a charge needs of the record whose columns begin at a place of a row. @throws LatchkeyError `STORE_CORRUPT` for damaged counters. */
export function keptRecord(memo: Memo, { kind, id }: RecordAddress, row: Row, at = 0): KeptRecord {
  const { age, generation } = memo;
  const seq = row[at + 2] as number | null;
  const counters =
    seq === null ? null : memo.keepCounters({ seq, age, ...readCounters(row, at + 3) });
  const revision = wholeOr(0, row[REVISION_AT]);
  const version = wholeOr(Number.NaN, row[at + 1]);
  const workspace = row[WORKSPACE_AT] as number;
  return { memo, workspace, kind, id, generation, revision, version, counters };
}

/**
 * One record of a row. What is damaged has no body, whatever of it is: core can then still delete it, and uses it for nothing.
 * Its counters, if those are what is damaged, have no uses left; a charge refuses them.
 */
function recordState(
  kind: RecordKind,
  row: Row,
  at: number,
  memo: Memo | null = null,
): StoredRecordState {
  let body: StoredRecordState["record"]["body"];
  let usage = row[at + 2] === null ? null : NO_USES;
  let handle: KeptRecord | undefined;
  const [id, stored, text, usedAt] = row.slice(at + ID_AT, at + ID_AT + 4) as [string, ...Row];
  const link = typeof stored === "string" ? stored : null;
  try {
    if (usage !== null) usage = readUsage(row, at + 3);
    if (memo !== null) handle = keptRecord(memo, { kind, id }, row, at);
    if (link === stored) body = JSON.parse(text as string);
  } catch {
    // As if it had no body.
  }
  const record = { kind, id, version: wholeOr(0, row[at + 1]), link, body };
  return { record, usage, usedAt: isWhole(usedAt) ? usedAt : null, handle };
}

/** What cannot be read is answered as 0. As a version it is none that anything rests on: NaN. */
export function wholeOr(otherwise: number, value: unknown): number {
  return isWhole(value) ? value : otherwise;
}
