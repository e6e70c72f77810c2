import {
  KIND_CODE,
  type LogPlace,
  type PageResult,
  type PageWant,
  parseWhole,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { listKey } from "./engine/names.js";
import { isOfKind } from "./engine/statements.js";
import { LINK_AT, loadedRecords } from "./stored-record.js";

/** Reads the next records of a list. */
export function page(connection: Connection, workspaceId: string, want: PageWant): PageResult {
  const { run, names } = connection;
  const { kind, limit, descending = false } = want;
  const isAll = isOfKind(want);
  const next = run[`${isAll ? "all" : "list"}${descending ? "Descending" : "Ascending"}`];
  return connection.snapshot(() => {
    const [workspace = 0, revision] = run.workspace.get(workspaceId) ?? [];
    const [, size, last] = run.name.get(workspace, want.list) ?? [];
    const after = want.after ?? (descending ? "\u{10ffff}" : "");
    const read = () => {
      if (want.from !== undefined) return logRows(connection, workspace, want.from, limit + 1);
      const key = isAll ? [after] : listKey(names, workspace as number, want);
      return next.all(workspace, KIND_CODE[kind], ...key, after, limit + 1);
    };
    const rows = read();
    const hasMore = rows.length > limit;
    if (hasMore) rows.pop();
    const links = JSON.stringify([...new Set(rows.map((row) => row[LINK_AT]))]);
    const found = loadedRecords(kind, rows, run.identities.all(links, workspace));
    return {
      revision: parseWhole(revision) ?? 0,
      found,
      hasMore,
      size: parseWhole(size) ?? 0,
      ...(want.from !== undefined && { last: parseWhole(last) ?? 1 }),
    };
  });
}

/** Entries from before there were numbers come first. */
function logRows({ run }: Connection, workspace: unknown, { version, id }: LogPlace, most: number) {
  const rows = version > 1 ? [] : run.unnumbered.all(workspace, id, id, most);
  return rows.concat(run.numbered.all(workspace, version, most - rows.length));
}
