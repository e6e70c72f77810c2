import type { OperationContext } from "../context.js";

/** A workspace as it is shown. Without a name it was never given one. */
export interface ShownWorkspace {
  readonly id: string;
  readonly name?: string;
  readonly enabled: boolean;
}

/** This workspace. One that was never written exists too: enabled, without a name. */
export async function getWorkspace(context: OperationContext): Promise<ShownWorkspace> {
  const { id, name, enabled } = await context.store.getWorkspace(context.workspaceId);
  return { id, ...(name !== null && { name }), enabled };
}
