import {
  type LoadedRecord,
  NO_USES,
  type ReadResult,
  type RecordKind,
  type StoredRecordState,
  type Usage,
  type Want,
} from "@latchkey/core";
import type { StoreContext } from "./engine/context.js";
import { Rows } from "./engine/rows.js";
import { SCRIPTS } from "./engine/scripts.js";
import { asList, parseBody, parseUsage, whole, wholeOrNull } from "./engine/stored-values.js";

/** Reads records as one snapshot, in one round trip. */
export function read(
  { connection, names: all }: StoreContext,
  workspaceId: string,
  wants: readonly Want[],
): Promise<ReadResult> {
  const names = all.of(workspaceId);
  const rows = new Rows();
  let kindOfHomes: RecordKind | undefined;
  for (const want of wants) {
    if ("index" in want) {
      const homes = names.everyPartOf(want.kind);
      if (want.kind !== kindOfHomes) rows.add("h", homes, String(homes.length));
      kindOfHomes = want.kind;
      rows.add("c", [names.claims(want)], want.value);
    } else rows.add("r", [names.recordsOf(want)], want.id);
  }
  const keys = [names.workspace, names.identities, ...rows.keys];
  return connection.run(SCRIPTS.read, keys, [rows.letters, ...rows.args], (answer) => {
    const [revision, ...items] = asList(answer, "revision");
    const found = wants.map(({ kind }, index): LoadedRecord | null => {
      const state = stateOf(kind, items[index * 2]);
      return state && { ...state, linked: stateOf("identity", items[index * 2 + 1]) };
    });
    return { revision: whole(revision, "revision"), found };
  });
}

/**
 * What is damaged beside the body leaves none, so that one key hides no other and can still be deleted; its counters, if those
 * are what is damaged, have no uses left, and a charge refuses them.
 */
function stateOf(kind: RecordKind, fields: unknown): StoredRecordState | null {
  if (!Array.isArray(fields)) return null;
  const [text, counters, usedAt, longBody, id] = fields as (string | null)[];
  const [, version, link, body] = /^(\d{1,16}) (\S*)(?:\n(.*))?$/s.exec(text ?? "") ?? [];
  const usage = counters === null ? null : readableUsage(counters ?? "");
  const isReadable = version !== undefined && usage !== undefined;
  return {
    record: {
      kind,
      id: id ?? "",
      version: wholeOrNull(version) ?? 0,
      link: link || null,
      body: isReadable ? parseBody(body ?? longBody ?? "") : undefined,
    },
    usage: usage === undefined ? NO_USES : usage,
    usedAt: wholeOrNull(usedAt),
  };
}

/** Undefined where the text is not that of counters. */
function readableUsage(counters: string): Usage | undefined {
  try {
    return parseUsage(counters, "counters");
  } catch {
    return undefined;
  }
}
