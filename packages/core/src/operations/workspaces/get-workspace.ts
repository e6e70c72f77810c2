import {
  unwrittenWorkspace,
  type WorkspaceRecord,
  workspaceType,
} from "../../records/workspace.js";
import type { OperationContext } from "../context.js";

/** A workspace as it is shown. Without a name it was never given one. */
export interface WorkspaceView {
  readonly id: string;
  readonly name?: string;
  readonly enabled: boolean;
}

/** This workspace. One that was never written exists too: enabled, without a name. */
export async function getWorkspace(context: OperationContext): Promise<WorkspaceView> {
  const { id, name, enabled } = await readWorkspace(context);
  return { id, ...(name !== null && { name }), enabled };
}

/** Whether this workspace is switched on. Authenticating a root key says so, too; this is for callers known in another way. */
export async function isWorkspaceEnabled(context: OperationContext): Promise<boolean> {
  return (await readWorkspace(context)).enabled;
}

async function readWorkspace({ store, workspaceId }: OperationContext): Promise<WorkspaceRecord> {
  const { found } = await store.read(workspaceId, [{ kind: "workspace", id: workspaceId }]);
  const [loaded = null] = found;
  if (loaded === null) return unwrittenWorkspace(workspaceId);
  return workspaceType.decode(loaded.record, workspaceId);
}
