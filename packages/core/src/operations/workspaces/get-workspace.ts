import {
  unwrittenWorkspace,
  type WorkspaceRecord,
  workspaceType,
} from "../../records/workspace.js";
import type { OperationContext } from "../context.js";

/** A workspace as it is shown. Without a name it was never given one. */
export interface WorkspaceView {
  /** Id of the workspace. */
  readonly id: string;
  /** For people. */
  readonly name?: string;
  /** Whether it is switched on. */
  readonly enabled: boolean;
}

/** @see WorkspaceOperations.getWorkspace */
export async function getWorkspace(context: OperationContext): Promise<WorkspaceView> {
  const { id, name, enabled } = await readWorkspace(context);
  return { id, ...(name !== null && { name }), enabled };
}

/** @see WorkspaceOperations.isWorkspaceEnabled */
export async function isWorkspaceEnabled(context: OperationContext): Promise<boolean> {
  return (await readWorkspace(context)).enabled;
}

async function readWorkspace({ store, workspaceId }: OperationContext): Promise<WorkspaceRecord> {
  const { found } = await store.read(workspaceId, [{ kind: "workspace", id: workspaceId }]);
  const [loaded = null] = found;
  if (loaded === null) return unwrittenWorkspace(workspaceId);
  return workspaceType.decode(loaded.record, workspaceId);
}
