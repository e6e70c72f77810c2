import { roleType } from "../../records/role.js";
import type { OperationContext } from "../context.js";
import { readAll } from "../read-page.js";
import { loadRoles } from "./load.js";
import { type RoleView, toRoleView } from "./view.js";

/** All roles of the workspace with their permissions, in the order of their creation. */
export async function listRoles(context: OperationContext): Promise<readonly RoleView[]> {
  const { values, permissions } = await loadRoles(context, () => readAll(context, roleType));
  return values.map((role, index) => toRoleView(role, permissions[index] ?? []));
}
