import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import { notFound, type OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { roleFacts } from "./view.js";

/** Input of deleteRole. */
export const deleteRoleInput = z.strictObject({ roleId: id });

/**
 * Deletes a role. No key has it, nor the permissions that came with it, any more, with the next verification; its name is
 * free. The permissions themselves stay.
 *
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such role.
 */
export async function deleteRole(
  context: OperationContext,
  input: z.input<typeof deleteRoleInput>,
): Promise<Record<string, never>> {
  const { roleId } = parseInput(deleteRoleInput, input);
  const { store, workspaceId } = context;
  const loaded = await store.getRole(workspaceId, roleId);
  if (loaded === null) throw notFound("role");
  const names = loaded.permissions.map(({ name }) => name);
  const changes = [
    noteChange(context, {
      type: "role.deleted",
      at: context.now(),
      resourceId: roleId,
      before: roleFacts(loaded.role, names),
    }),
  ];
  const outcome = await store.deleteRole(workspaceId, roleId, toLog(context, changes));
  if (outcome === "not-found") throw notFound("role");
  announce(context, changes);
  return {};
}
