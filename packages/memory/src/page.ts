import type { LoadedRecord, PageResult, PageWant } from "@latchkey/core";
import { loaded } from "./read.js";
import type { Workspace } from "./workspace.js";

/** The next records of a list. Ids whose record is gone are passed over. */
export function page(workspace: Workspace, want: PageWant): PageResult {
  const { revision, lists } = workspace;
  const found: LoadedRecord[] = [];
  const rows = workspace.rows(want.kind);
  let hasMore = false;
  for (const [id] of lists.walk(want)) {
    const row = rows.get(id);
    if (row === undefined) continue;
    hasMore = found.length === want.limit;
    if (hasMore) break;
    found.push(loaded(workspace, row));
  }
  return { revision, found, hasMore, size: lists.sizeOf(want.list) };
}
