import { z } from "zod";
import { notFound, type OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { type ListedRole, toListedRole } from "./view.js";

/** Input of getRole. */
export const getRoleInput = z.strictObject({ roleId: id });

/** @throws LatchkeyError `NOT_FOUND` when this workspace has no such role. */
export async function getRole(
  context: OperationContext,
  input: z.input<typeof getRoleInput>,
): Promise<ListedRole> {
  const { roleId } = parseInput(getRoleInput, input);
  const role = await context.store.getRole(context.workspaceId, roleId);
  if (role === null) throw notFound("role");
  return toListedRole(role);
}
