import type { OperationContext } from "../context.js";

/** Whether this workspace is switched on. A root key tells by itself; this is for callers known in another way. */
export async function isWorkspaceEnabled(context: OperationContext): Promise<boolean> {
  return (await context.store.getWorkspace(context.workspaceId)).enabled;
}
