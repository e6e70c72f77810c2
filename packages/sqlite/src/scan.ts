import { FIRST_WINDOW, SCAN_PAGE, type ScanResult, scannedNames } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";

/** The next names in ascending order. */
export function scan(
  { run, memo, names }: Connection,
  workspaceId: string | null,
  after: string | null,
): ScanResult {
  memo.confirm();
  if (workspaceId === null) return scannedNames(run.workspaces.all(after ?? "", SCAN_PAGE));
  const first = after ?? FIRST_WINDOW;
  return scannedNames(run.windows.all(names.workspace(workspaceId), first, SCAN_PAGE));
}
