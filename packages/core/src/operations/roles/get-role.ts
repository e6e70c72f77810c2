import { z } from "zod";
import { type RoleRecord, roleType } from "../../records/role.js";
import type { OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { readRecord } from "../read-record.js";
import { loadRoles } from "./load.js";
import { type RoleView, toRoleView } from "./view.js";

/** Input of getRole. */
export const getRoleInput = z.strictObject({ roleId: id });

/** @throws LatchkeyError `NOT_FOUND` when this workspace has no such role. */
export async function getRole(
  context: OperationContext,
  input: z.input<typeof getRoleInput>,
): Promise<RoleView> {
  const { roleId } = parseInput(getRoleInput, input);
  const { values, permissions } = await loadRoles(context, async () => {
    const want = { kind: "role", id: roleId } as const;
    const { value, revision } = await readRecord(context, roleType, want, "role");
    return { values: [value], revision };
  });
  return toRoleView(values[0] as RoleRecord, permissions[0] ?? []);
}
