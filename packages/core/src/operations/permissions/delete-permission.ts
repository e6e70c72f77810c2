import { z } from "zod";
import { permissionType } from "../../records/permission.js";
import { type OperationContext, transact } from "../context.js";
import { id, parseInput } from "../input.js";
import { readRecordIn } from "../read-record.js";

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
  await transact(context, async (transaction, audit) => {
    const want = { kind: "permission", id: permissionId } as const;
    const { value } = await readRecordIn(transaction, permissionType, want, "permission");
    const { name, description } = value;
    transaction.delete(permissionType, value);
    transaction.raiseRevision();
    audit({
      type: "permission.deleted",
      at: context.now(),
      resourceId: permissionId,
      before: { name, description },
    });
  });
  return {};
}
