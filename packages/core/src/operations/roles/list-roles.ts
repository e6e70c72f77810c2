import type { OperationContext } from "../context.js";
import { type ListedRole, toListedRole } from "./view.js";

/** All roles of the workspace with their permissions, in the order of their creation. */
export async function listRoles(context: OperationContext): Promise<readonly ListedRole[]> {
  return (await context.store.listRoles(context.workspaceId)).map(toListedRole);
}
