import type { LoadedRecord, PageResult, PageWant } from "@latchkey/core";
import type { Workspace } from "./workspace.js";

/** The next records of a list. Ids whose record is gone are passed over. */
export function page(workspace: Workspace, want: PageWant): PageResult {
  const { revision, lists } = workspace;
  const size = lists.sizeOf(want.list);
  const found: LoadedRecord[] = [];
  const rows = workspace.rows(want.kind);
  for (const [id, known] of lists.walk(want)) {
    // Among many records, to find one by its id takes longer than all else here.
    const row = known?.isCurrent && known.kind === want.kind ? known : rows.get(id);
    if (row === undefined) continue;
    if (found.length === want.limit) return { revision, found, hasMore: true, size };
    if (row !== known) lists.enter(want.list, want.of, id, row);
    found.push(row.loaded(workspace));
  }
  return { revision, found, hasMore: false, size };
}
