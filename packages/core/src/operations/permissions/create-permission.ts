import { z } from "zod";
import { type PermissionRecord, permissionType } from "../../records/permission.js";
import { nameTaken, type OperationContext, transact } from "../context.js";
import { description, grantName, parseInput } from "../input.js";

/** Input of createPermission: a name of 1 to 512 characters of `A-Z a-z 0-9 _ . : * -`. */
export const createPermissionInput = z.strictObject({
  name: grantName,
  description: description.optional(),
});

/**
 * Creates a permission that keys and roles of this workspace can be given.
 *
 * @throws LatchkeyError `CONFLICT` when the name is taken.
 */
export async function createPermission(
  context: OperationContext,
  input: z.input<typeof createPermissionInput>,
): Promise<{ readonly permissionId: string }> {
  const parsed = parseInput(createPermissionInput, input);
  const now = context.now();
  const permission: PermissionRecord = {
    id: context.newId("perm"),
    workspaceId: context.workspaceId,
    name: parsed.name,
    description: parsed.description || null,
    createdAt: now,
  };
  const { id, name, description } = permission;
  await transact(context, async (transaction, audit) => {
    transaction.insert(permissionType, permission, { onTaken: () => nameTaken("permission") });
    audit({
      type: "permission.created",
      at: now,
      resourceId: id,
      after: { name, description },
    });
  });
  return { permissionId: id };
}
