import {
  type LoadedRecord,
  parseWhole,
  type RecordAddress,
  type RecordKind,
  storedState,
} from "@latchkey/core";
import { readCounters, usageAt } from "./engine/counters.js";
import type { Row } from "./engine/database.js";
import type { KeptRecord, Memo } from "./engine/memo.js";

// Where the parts of a row of `statements.ts` begin.
const ID_AT = 7;
export const LINK_AT = 8;
const LINKED_AT = 11;
export const REVISION_AT = 22;
const WORKSPACE_AT = 23;

/** Reads a row with a record and the identity it links to. `memo`: that of the connection, for a charge that follows. */
export function loadedRecord(kind: RecordKind, row: Row, memo: Memo | null): LoadedRecord {
  const linked = row[LINKED_AT] === null ? null : recordState("identity", row, LINKED_AT, memo);
  return { ...recordState(kind, row, 0, memo), linked };
}

/** Reads rows without an identity. The linked identities come separately: many keys of a page may share one. */
export function loadedRecords(kind: RecordKind, rows: readonly Row[], identities: readonly Row[]) {
  const linked = new Map(identities.map((row) => [row[ID_AT], recordState("identity", row, 0)]));
  return rows.map((row): LoadedRecord => {
    const state = recordState(kind, row, 0);
    return { ...state, linked: linked.get(state.record.link) ?? null };
  });
}

/** What a charge needs of a record, from the columns at `at` of a row. @throws LatchkeyError `STORE_CORRUPT` for damaged counters. */
export function keptRecord(memo: Memo, { kind, id }: RecordAddress, row: Row, at = 0): KeptRecord {
  const { age, generation } = memo;
  const seq = row[at + 2] as number | null;
  const counters =
    seq === null ? null : memo.keepCounters({ seq, age, generation, ...readCounters(row, at + 3) });
  const revision = parseWhole(row[REVISION_AT]) ?? 0;
  const version = parseWhole(row[at + 1]) ?? Number.NaN;
  const workspace = row[WORKSPACE_AT] as number;
  return { memo, workspace, kind, id, generation, revision, version, counters };
}

function recordState(kind: RecordKind, row: Row, at: number, memo: Memo | null = null) {
  const [id, link, body, usedAt] = row.slice(at + ID_AT, at + ID_AT + 4) as [string, ...Row];
  let usage = row[at + 2] === null ? null : usageAt(row, at + 3);
  let handle: KeptRecord | undefined;
  try {
    if (memo !== null) handle = keptRecord(memo, { kind, id }, row, at);
  } catch {
    usage = undefined;
  }
  const ownLink = link === null || typeof link === "string" ? link : undefined;
  return storedState({
    kind,
    id,
    version: row[at + 1],
    link: ownLink,
    body,
    usage,
    usedAt,
    handle,
  });
}
