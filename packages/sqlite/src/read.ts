import { parseWhole, type ReadResult, type Want } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import type { Row } from "./engine/database.js";
import { storedValue } from "./engine/names.js";
import { addressOf } from "./engine/statements.js";
import { loadedRecord, REVISION_AT } from "./stored-record.js";

/** Reads records by id and by claim. */
export function read(at: Connection, workspaceId: string, wants: readonly Want[]): ReadResult {
  const [want] = wants;
  // One statement is its own snapshot. A read by name is usually followed by a charge.
  if (want !== undefined && wants.length === 1) {
    at.memo.confirm();
    const row = find(at, workspaceId, want);
    const found = row && [loadedRecord(want.kind, row, "id" in want ? null : at.memo)];
    if (found) return { revision: parseWhole(row[REVISION_AT]) ?? 0, found };
  }
  return at.snapshot(() => {
    const [, revision] = at.run.workspace.get(workspaceId) ?? [];
    const found = wants.map((each) => {
      const row = find(at, workspaceId, each);
      return row === undefined ? null : loadedRecord(each.kind, row, null);
    });
    return { revision: parseWhole(revision) ?? 0, found };
  });
}

function find({ run, names }: Connection, workspaceId: string, want: Want): Row | undefined {
  const workspace = names.workspace(workspaceId);
  if ("id" in want) return run.byId.get(...addressOf(workspace, want));
  return run.byClaim.get(names.claims(workspace, want), storedValue(want));
}
