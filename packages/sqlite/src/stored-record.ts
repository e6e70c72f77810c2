import {
  type JsonValue,
  type LoadedRecord,
  NO_USES,
  type RecordKind,
  type StoredRecordState,
  type Usage,
} from "@latchkey/core";
import type { Row } from "./engine/database.js";
import type { KeptCounters, KeptRecord, Memo } from "./engine/memo.js";
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

/** The columns that {@link keptRecord} and {@link keptCounters} read, of a record and its counters under these names. */
export const keptColumns = (record: string, counters: string) =>
  `${record}.seq, ${record}.version, ${record}.counters, ${counters}.remaining, ${counters}.refilled_at,
  ${counters}.last_refill_at, ${counters}.windows`;

const BODY_AT = 7;
const LINKED_AT = 11;
/** Where a row of {@link LOADED} has the revision of the workspace. */
export const REVISION_AT = 22;

/** A record `r`, and the identity `l` that it links to, with what is kept beside them. {@link loadedRecord} reads such a row. */
export const LOADED = `SELECT ${keptColumns("r", "c")}, r.id, r.link, r.body, u.at,
  ${keptColumns("l", "d")}, l.id, l.link, l.body, v.at, w.revision`;

/** The tables of {@link LOADED} beside `r`. Conditions are to follow. */
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

/** Keeps what a charge needs of the records of a row of {@link LOADED}. */
export function keepLoaded(memo: Memo, kind: RecordKind, row: Row, workspace: number): void {
  const { generation } = memo;
  for (const [each, at] of [
    [kind, 0],
    ["identity", LINKED_AT],
  ] as const) {
    if (row[at] === null) continue;
    const address = { workspace, kind: KIND_CODE[each], id: row[at + BODY_AT] as string };
    try {
      memo.keep(
        keptRecord(row, at, address, row[REVISION_AT], generation),
        keptCounters(row, at, generation),
      );
    } catch {
      // Damaged counters are those of whoever charges them.
    }
  }
}

/** What a charge needs of the record whose columns begin at a place of a row. */
export function keptRecord(
  row: Row,
  at: number,
  address: Pick<KeptRecord, "workspace" | "kind" | "id">,
  revision: unknown,
  generation: number,
): KeptRecord {
  const { workspace, kind, id } = address;
  const version = wholeOr0(row[at + 1]);
  const counters = row[at + 2] as number | null;
  return {
    seq: row[at] as number,
    workspace,
    kind,
    id,
    version,
    revision: wholeOr0(revision),
    counters,
    generation,
  };
}

/** @throws LatchkeyError `STORE_CORRUPT` when they cannot be what was written. */
export function keptCounters(row: Row, at: number, generation: number): KeptCounters | null {
  if (row[at + 2] === null) return null;
  const usage = readUsage(row[at + 3], row[at + 4], row[at + 5]);
  return { usage, windows: readWindows(row[at + 6]), generation };
}

/**
 * One record of a row. What is damaged has no body, whatever of it is: core can then still delete it, and uses it for nothing.
 * Its counters, if those are what is damaged, have no uses left; a charge refuses them.
 */
function recordState(kind: RecordKind, row: Row, at: number): StoredRecordState {
  let body = parseBody(row[at + BODY_AT + 2]);
  let usage: Usage | null = null;
  try {
    if (row[at + 2] !== null) usage = readUsage(row[at + 3], row[at + 4], row[at + 5]);
  } catch {
    usage = NO_USES;
    body = undefined;
  }
  const link = row[at + BODY_AT + 1];
  const usedAt = row[at + BODY_AT + 3];
  return {
    record: {
      kind,
      id: row[at + BODY_AT] as string,
      version: wholeOr0(row[at + 1]),
      link: typeof link === "string" ? link : null,
      body,
    },
    usage,
    usedAt: isWhole(usedAt) ? usedAt : null,
    handle: row[at],
  };
}

/** Versions and revisions that cannot be read are 0. */
export function wholeOr0(value: unknown): number {
  return isWhole(value) ? value : 0;
}

function parseBody(body: unknown): JsonValue | undefined {
  try {
    return JSON.parse(body as string) as JsonValue;
  } catch {
    return undefined;
  }
}
