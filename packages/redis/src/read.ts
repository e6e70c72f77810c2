import {
  corruptRecord,
  type LoadedRecord,
  type ReadResult,
  type RecordKind,
  type StoredRecordState,
  storedState,
  type Want,
} from "@latchkey/core";
import { Rows } from "./engine/rows.js";
import { SCRIPTS } from "./engine/scripts.js";
import { asList, parseUsage, whole } from "./engine/stored-values.js";
import type { Workspace } from "./engine/workspace.js";

/** Version, link, counters and body, as in include/record.lua. */
const STORED = /^(\S*) (\S*)(?: ([^\n]*))?(?:\n(.*))?$/s;

/** Reads records as one snapshot, in one round trip. */
export async function read(workspace: Workspace, wants: readonly Want[]): Promise<ReadResult> {
  const rows = new Rows();
  for (const want of wants) {
    if ("index" in want) rows.addName("c", workspace, want);
    else rows.add("r", [workspace.recordsOf(want)], want.id);
  }
  const keys = [workspace.shared, ...workspace.everyPartOf("identity"), ...rows.keys];
  const answer = await workspace.run(SCRIPTS.read, keys, [rows.letters, ...rows.args]);
  const [revision, ...items] = asList(answer, "revision");
  const found = wants.map(({ kind }, index): LoadedRecord | null => {
    const state = stateOf(kind, items[index * 2]);
    return state && { ...state, linked: stateOf("identity", items[index * 2 + 1]) };
  });
  return { revision: whole(revision, "revision"), found };
}

function isTextOrNull(field: unknown): field is string | null {
  return field === null || typeof field === "string";
}

function stateOf(kind: RecordKind, fields: unknown): StoredRecordState | null {
  if (!Array.isArray(fields)) return null;
  if (!fields.every(isTextOrNull)) throw corruptRecord("record");
  const [text, usedAt, bodyApart, shared, id] = fields;
  const [, version, link, own, body = bodyApart] = STORED.exec(text ?? "") ?? [];
  const counters = own?.startsWith("@") ? shared?.slice(2) : own;
  const usage = own === undefined ? null : parseUsage(counters ?? "");
  const ownLink = link === "" ? null : link;
  return storedState({ kind, id: id ?? "", version, link: ownLink, body, usage, usedAt });
}
