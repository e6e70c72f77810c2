import {
  type LoadedRecord,
  type RecordKind,
  readUsage,
  type StoredRecordState,
  storedState,
} from "@latchkey/core";
import type { Row } from "./engine/database.js";

/** How many columns a record has in a row of `statements.ts`. */
const WIDTH = 10;

/** Reads a record and the identity it links to, from column `at` of a row; null if there is none. */
export function loadedRecord(kind: RecordKind, row: Row, at: number): LoadedRecord | null {
  const state = recordState(kind, row, at);
  return state && { ...state, linked: recordState("identity", row, at + WIDTH) };
}

function recordState(kind: RecordKind, row: Row, at: number): StoredRecordState | null {
  const [id, version, link = null, body, usedAt, handle, ...amounts] = row.slice(at, at + WIDTH);
  if (id === null || id === undefined) return null;
  const usage = handle === null ? null : readUsage(amounts);
  return storedState({ kind, id, version, link, body, usage, usedAt, handle });
}
