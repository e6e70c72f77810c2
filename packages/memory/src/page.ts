import type { LoadedRecord, PageResult, PageWant } from "@latchkey/core";
import { loaded } from "./read.js";
import type { Workspace } from "./workspace.js";

/** The next records of a list. Ids whose record is gone are passed over. */
export function page(workspace: Workspace, want: PageWant): PageResult {
  const { revision, lists } = workspace;
  const size = lists.sizeOf(want.list);
  const found: LoadedRecord[] = [];
  const rows = workspace.rows(want.kind);
  for (const [id] of lists.walk(want)) {
    const row = rows.get(id);
    if (row === undefined) continue;
    if (found.length === want.limit) return { revision, found, hasMore: true, size };
    found.push(loaded(workspace, row));
  }
  return { revision, found, hasMore: false, size };
}
