import { FIRST_WINDOW, SCAN_PAGE, type ScanResult, scannedNames } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";

/** The next names in ascending order. */
export async function scan(
  connection: Connection,
  workspaceId: string | null,
  after: string | null,
): Promise<ScanResult> {
  const { workspaces, windows } = connection.sql;
  const most = String(SCAN_PAGE);
  if (workspaceId === null)
    return scannedNames(await connection.ask(workspaces, [after ?? "", most]));
  return scannedNames(await connection.ask(windows, [workspaceId, after ?? FIRST_WINDOW, most]));
}
