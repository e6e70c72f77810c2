import type { ScanResult } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";

/** How many names are answered at once. */
const PAGE = 1_000;

/** Below every name of a window, which has no space, and above those of requests, which begin with one. */
const FIRST_WINDOW = " \x7f";

/** The next names in ascending order. */
export function scan(
  { run, memo, names: known }: Connection,
  workspaceId: string | null,
  after: string | null,
): ScanResult {
  memo.confirm();
  const rows =
    workspaceId === null
      ? run.workspaces.all(after ?? "", PAGE)
      : run.windows.all(known.workspace(workspaceId), after ?? FIRST_WINDOW, PAGE);
  const names = rows.map(([name]) => String(name));
  return { names, next: rows.length < PAGE ? null : (names.at(-1) ?? null) };
}
