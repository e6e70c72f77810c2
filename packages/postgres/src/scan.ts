import { FIRST_WINDOW, type ScanResult, scannedNames } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";

/** The next names in ascending order. */
export async function scan(
  connection: Connection,
  workspaceId: string | null,
  after: string | null,
): Promise<ScanResult> {
  const { workspaces, windows } = connection.sql;
  if (workspaceId === null) return scannedNames(await connection.ask(workspaces, [after ?? ""]));
  return scannedNames(await connection.ask(windows, [workspaceId, after ?? FIRST_WINDOW]));
}
