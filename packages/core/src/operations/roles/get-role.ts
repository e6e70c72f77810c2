import { z } from "zod";
import { type RoleRecord, roleType } from "../../records/role.js";
import type { OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { readRecord } from "../read-record.js";
import { loadRoles } from "./load.js";
import { type RoleView, toRoleView } from "./view.js";

/** Input of getRole. */
export interface GetRoleInput {
  /** Id of the role. */
  readonly roleId: string;
}

/** Schema of the input of getRole. */
export const getRoleInput = z.strictObject({ roleId: id });

/** @see PermissionOperations.getRole */
export async function getRole(context: OperationContext, input: GetRoleInput): Promise<RoleView> {
  const { roleId } = parseInput(getRoleInput, input);
  const { values, permissions } = await loadRoles(context, async () => {
    const want = { kind: "role", id: roleId } as const;
    const { value, revision } = await readRecord(context, roleType, want, "role");
    return { values: [value], revision };
  });
  return toRoleView(values[0] as RoleRecord, permissions[0] ?? []);
}
