import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import { notFound, type OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";

/** Input of deletePermission. */
export const deletePermissionInput = z.strictObject({ permissionId: id });

/**
 * Deletes a permission. No key and no role has it any more, with the next verification; its name is free.
 *
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such permission.
 */
export async function deletePermission(
  context: OperationContext,
  input: z.input<typeof deletePermissionInput>,
): Promise<Record<string, never>> {
  const { permissionId } = parseInput(deletePermissionInput, input);
  const { store, workspaceId } = context;
  const permission = await store.getPermission(workspaceId, permissionId);
  if (permission === null) throw notFound("permission");
  const { name, description } = permission;
  const changes = [
    noteChange(context, {
      type: "permission.deleted",
      at: context.now(),
      resourceId: permissionId,
      before: { name, description },
    }),
  ];
  const outcome = await store.deletePermission(workspaceId, permissionId, toLog(context, changes));
  if (outcome === "not-found") throw notFound("permission");
  announce(context, changes);
  return {};
}
