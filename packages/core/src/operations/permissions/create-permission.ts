import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import { LatchkeyError } from "../../errors.js";
import type { OperationContext } from "../context.js";
import { description, grantName, parseInput } from "../input.js";

/** Input of createPermission: a name of 1 to 512 characters of `A-Z a-z 0-9 _ . : * -`. */
export const createPermissionInput = z.strictObject({
  name: grantName,
  description: description.optional(),
});

/**
 * Makes a permission that keys and roles of this workspace can be given.
 *
 * @throws LatchkeyError `CONFLICT` when the name is taken.
 */
export async function createPermission(
  context: OperationContext,
  input: z.input<typeof createPermissionInput>,
): Promise<{ readonly permissionId: string }> {
  const parsed = parseInput(createPermissionInput, input);
  const now = context.now();
  const permissionId = context.newId("perm");
  const { name } = parsed;
  const description = parsed.description || null;
  const changes = [
    noteChange(context, {
      type: "permission.created",
      at: now,
      resourceId: permissionId,
      after: { name, description },
    }),
  ];
  const outcome = await context.store.insertPermission(
    { id: permissionId, workspaceId: context.workspaceId, name, description, createdAt: now },
    toLog(context, changes),
  );
  if (outcome === "name-taken")
    throw new LatchkeyError("CONFLICT", "a permission of this name exists");
  announce(context, changes);
  return { permissionId };
}
