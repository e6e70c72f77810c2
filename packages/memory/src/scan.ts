import type { ScanResult } from "@latchkey/core";
import type { Workspaces } from "./workspace.js";

/** All names at once: they are in memory as it is. */
export function scan(workspaces: Workspaces, workspaceId: string | null): ScanResult {
  if (workspaceId === null) return { names: [...workspaces.keys()], next: null };
  return { names: workspaces.get(workspaceId)?.windows.names() ?? [], next: null };
}
