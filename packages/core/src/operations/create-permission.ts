import { z } from "zod";
import type { OperationContext } from "../context.js";
import { LatchkeyError } from "../errors.js";
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
  const permissionId = context.newId("perm");
  const outcome = await context.store.insertPermission({
    id: permissionId,
    workspaceId: context.workspaceId,
    name: parsed.name,
    description: parsed.description ?? null,
    createdAt: context.now(),
  });
  if (outcome === "name-taken")
    throw new LatchkeyError("CONFLICT", "a permission of this name exists");
  return { permissionId };
}
