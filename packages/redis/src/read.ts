import {
  type LoadedRecord,
  NO_USES,
  parseWhole,
  type ReadResult,
  type RecordKind,
  type StoredRecordState,
  type Want,
} from "@latchkey/core";
import { Rows } from "./engine/rows.js";
import { SCRIPTS } from "./engine/scripts.js";
import { asList, parseBody, parseUsage, whole } from "./engine/stored-values.js";
import type { Workspace } from "./engine/workspace.js";

/** Version, link, counters and body, as include/record.lua says. */
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

/**
 * What is damaged beside the body leaves none, so that one key hides no other and can still be deleted; its counters, if those
 * are what is damaged, have no uses left, and a charge refuses them.
 */
function stateOf(kind: RecordKind, fields: unknown): StoredRecordState | null {
  if (!Array.isArray(fields)) return null;
  const [text, usedAt, bodyApart, shared, id] = fields as (string | null)[];
  const [, version, link, own, body] = STORED.exec(text ?? "") ?? [];
  const counters = own?.startsWith("@") ? shared?.slice(2) : own;
  const usage = own === undefined ? null : parseUsage(counters ?? "");
  const readableVersion = parseWhole(version);
  const isReadable = readableVersion !== null && usage !== undefined;
  return {
    record: {
      kind,
      id: id ?? "",
      version: readableVersion ?? 0,
      link: link || null,
      body: isReadable ? parseBody(body ?? bodyApart ?? "") : undefined,
    },
    usage: usage === undefined ? NO_USES : usage,
    usedAt: parseWhole(usedAt),
  };
}
