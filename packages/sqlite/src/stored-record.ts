import {
  type JsonValue,
  NO_USES,
  type RecordKind,
  type StoredRecordState,
  type Usage,
} from "@latchkey/core";
import type { Row } from "./engine/database.js";
import { isWhole, readUsage } from "./engine/stored-counters.js";

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

/**
 * A record `r`, and the identity that it links to, with what is kept beside them: {@link loadedRecord} reads such a row.
 * Conditions are to be added.
 */
export const LOADED = `SELECT r.seq, r.id, r.version, r.link, r.body, r.counters, c.remaining, c.refilled_at, c.last_refill_at, u.at,
  l.seq, l.id, l.version, l.link, l.body, l.counters, d.remaining, d.refilled_at, d.last_refill_at, v.at, w.revision`;

/** The tables of {@link LOADED} beside `r`. */
export const BESIDE = `JOIN latchkey_workspace w ON w.seq = r.workspace
  LEFT JOIN latchkey_counters c ON c.seq = r.counters
  LEFT JOIN latchkey_used u ON u.record = r.seq
  LEFT JOIN latchkey_record l ON l.workspace = r.workspace AND l.kind = ${KIND_CODE.identity} AND l.id = r.link
  LEFT JOIN latchkey_counters d ON d.seq = l.counters
  LEFT JOIN latchkey_used v ON v.record = l.seq`;

const LINKED_AT = 10;

/** Where a row of {@link LOADED} has the revision of the workspace. */
export const REVISION_AT = 20;

/** Reads a row of {@link LOADED}. */
export function loadedRecord(kind: RecordKind, row: Row) {
  const linked = row[LINKED_AT] === null ? null : recordState("identity", row, LINKED_AT);
  return { ...recordState(kind, row, 0), linked };
}

/**
 * One record of a row. What is damaged has no body, whatever of it is: core can then still delete it, and uses it for nothing.
 * Its counters, if those are what is damaged, have no uses left; a charge refuses them.
 */
function recordState(kind: RecordKind, row: Row, at: number): StoredRecordState {
  const [seq, id, version, link, body, counters] = row.slice(at, at + 6);
  let isDamaged = !isWhole(version);
  let usage: Usage | null = null;
  if (counters !== null) {
    try {
      usage = readUsage(row[at + 6], row[at + 7], row[at + 8]);
    } catch {
      usage = NO_USES;
      isDamaged = true;
    }
  }
  const usedAt = row[at + 9];
  return {
    record: {
      kind,
      id: id as string,
      version: isWhole(version) ? version : 0,
      link: typeof link === "string" ? link : null,
      body: isDamaged ? undefined : parseBody(body),
    },
    usage,
    usedAt: isWhole(usedAt) ? usedAt : null,
    handle: seq,
  };
}

function parseBody(body: unknown): JsonValue | undefined {
  try {
    return JSON.parse(body as string) as JsonValue;
  } catch {
    return undefined;
  }
}
