import type { OperationContext } from "../context.js";

/**
 * Switches this workspace on or off. While it is off no verification gives a verdict (`FORBIDDEN`) and no root key of
 * it authorises anything. Seen by every call that starts after this has resolved.
 */
export async function setWorkspaceEnabled(
  context: OperationContext,
  enabled: boolean,
): Promise<void> {
  await context.store.setWorkspaceEnabled(context.workspaceId, enabled);
}
