import { permissionType } from "../../records/permission.js";
import type { OperationContext } from "../context.js";
import { readAll } from "../read-page.js";
import { type PermissionView, toPermissionView } from "../roles/view.js";

/** All permissions of the workspace, in the order of their creation. */
export async function listPermissions(
  context: OperationContext,
): Promise<readonly PermissionView[]> {
  const { values } = await readAll(context, permissionType);
  return values.map(toPermissionView);
}
