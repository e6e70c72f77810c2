import {
  type LoadedRecord,
  NO_USES,
  parseWhole,
  type RecordKind,
  type StoredRecordState,
  type Usage,
} from "@latchkey/core";
import type { Row } from "./engine/database.js";

/** How many columns a record has in a row of `statements.ts`. */
const WIDTH = 9;

/** Reads a record and the identity that it links to, from a place of a row on; null where there is none. */
export function loadedRecord(kind: RecordKind, row: Row, at: number): LoadedRecord | null {
  const state = recordState(kind, row, at);
  return state && { ...state, linked: recordState("identity", row, at + WIDTH) };
}

/**
 * What is damaged has no body, whatever of it is: core can then still delete it, and uses it for nothing. Its counters, if those
 * are what is damaged, have no uses left; a charge refuses them.
 */
function recordState(kind: RecordKind, row: Row, at: number): StoredRecordState | null {
  const [id, version, link = null, text, usedAt, counters, ...amounts] = row.slice(at, at + WIDTH);
  if (id === null || id === undefined) return null;
  const usage = readUsage(amounts);
  let body: StoredRecordState["record"]["body"];
  try {
    body = JSON.parse(text as string);
  } catch {
    body = undefined;
  }
  if (counters !== null && usage === null) body = undefined;
  return {
    record: { kind, id, version: parseWhole(version) ?? 0, link, body },
    usage: counters === null ? null : (usage ?? NO_USES),
    usedAt: parseWhole(usedAt),
    handle: counters,
  };
}

function readUsage([remaining, refilledAt, lastRefillAt]: Row): Usage | null {
  const since = parseWhole(refilledAt);
  const isRead = (text: string | null | undefined) => text === null || parseWhole(text) !== null;
  if (since === null || !isRead(remaining) || !isRead(lastRefillAt)) return null;
  return {
    remaining: parseWhole(remaining),
    refilledAt: since,
    lastRefillAt: parseWhole(lastRefillAt),
  };
}
