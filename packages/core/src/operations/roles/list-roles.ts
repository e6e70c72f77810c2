import { roleType } from "../../records/role.js";
import type { OperationContext } from "../context.js";
import { readAll } from "../read-page.js";
import { loadRoles } from "./load.js";
import { type RoleView, toRoleView } from "./view.js";

/** @see PermissionOperations.listRoles */
export async function listRoles(context: OperationContext): Promise<readonly RoleView[]> {
  const { values, permissions } = await loadRoles(context, () => readAll(context, roleType));
  return values.map((role, index) => toRoleView(role, permissions[index] ?? []));
}
