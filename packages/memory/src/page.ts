import type { LoadedRecord, LogPlace, PageResult, PageWant } from "@latchkey/core";
import type { Row } from "./row.js";
import { placeOf, type Workspace } from "./workspace.js";

/** The next records of a list. Ids of deleted records are skipped. */
export function page(workspace: Workspace, want: PageWant): PageResult {
  if (want.from !== undefined) return logPage(workspace, want, want.from);
  const { revision, lists } = workspace;
  const found: LoadedRecord[] = [];
  const putAnew: Row[] = [];
  let hasMore = false;
  const rows = workspace.rows(want.kind);
  for (const [id, known] of lists.walk(want)) {
    // With many records, finding one by its id takes longer than everything else here.
    const row = known?.isCurrent && known.kind === want.kind ? known : rows.get(id);
    if (row === undefined) continue;
    hasMore = found.length === want.limit;
    if (hasMore) break;
    if (row !== known) putAnew.push(row);
    found.push(row.loaded(workspace));
  }
  // Only after the walk: if the tree changed during the walk, the walk might skip ids.
  for (const row of putAnew) lists.enter(want.list, want.of, row.id, row);
  return { revision, found, hasMore, size: lists.sizeOf(want.list) };
}

function logPage(workspace: Workspace, { list, limit }: PageWant, from: LogPlace): PageResult {
  const { revision, lists, lastEntry } = workspace;
  const found: LoadedRecord[] = [];
  let hasMore = false;
  for (const [, row] of workspace.log.entries(placeOf(from), [])) {
    hasMore = found.length === limit;
    if (hasMore) break;
    if (row !== undefined) found.push(row.loaded(workspace));
  }
  return { revision, found, hasMore, size: lists.sizeOf(list), last: lastEntry };
}
