import { z } from "zod";
import { notFound, type OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { type ListedPermission, toListedPermission } from "../roles/view.js";

/** Input of getPermission. */
export const getPermissionInput = z.strictObject({ permissionId: id });

/** @throws LatchkeyError `NOT_FOUND` when this workspace has no such permission. */
export async function getPermission(
  context: OperationContext,
  input: z.input<typeof getPermissionInput>,
): Promise<ListedPermission> {
  const { permissionId } = parseInput(getPermissionInput, input);
  const permission = await context.store.getPermission(context.workspaceId, permissionId);
  if (permission === null) throw notFound("permission");
  return toListedPermission(permission);
}
