import type { PageResult, PageWant } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { storedOwner } from "./engine/names.js";
import { KIND_CODE } from "./engine/statements.js";
import { loadedRecord, wholeOr } from "./stored-record.js";

/** Reads the next records of a list. */
export function page(connection: Connection, workspaceId: string, want: PageWant): PageResult {
  const { run } = connection;
  const { kind, limit, descending = false } = want;
  return connection.snapshot(() => {
    const [workspace = null, revision] = run.workspace.get(workspaceId) ?? [];
    const [list = null, size] = run.name.get(workspace, want.list) ?? [];
    const after = want.after ?? (descending ? "\u{10ffff}" : "");
    const place = [workspace, KIND_CODE[kind], list, storedOwner(want), after];
    const rows = (descending ? run.descending : run.ascending).all(...place, limit + 1);
    const found = rows.slice(0, limit).map((row) => loadedRecord(kind, row));
    const hasMore = rows.length > limit;
    return { revision: wholeOr(0, revision), found, hasMore, size: wholeOr(0, size) };
  });
}
