import { permissionType } from "../../records/permission.js";
import type { OperationContext } from "../context.js";
import { readAll } from "../read-page.js";
import { type PermissionView, toPermissionView } from "../roles/view.js";

/** @see PermissionOperations.listPermissions */
export async function listPermissions(
  context: OperationContext,
): Promise<readonly PermissionView[]> {
  const { values } = await readAll(context, permissionType);
  return values.map(toPermissionView);
}
