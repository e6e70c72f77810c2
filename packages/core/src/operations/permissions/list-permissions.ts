import type { OperationContext } from "../context.js";
import { type ListedPermission, toListedPermission } from "../roles/view.js";

/** All permissions of the workspace, in the order of their creation. */
export async function listPermissions(
  context: OperationContext,
): Promise<readonly ListedPermission[]> {
  return (await context.store.listPermissions(context.workspaceId)).map(toListedPermission);
}
