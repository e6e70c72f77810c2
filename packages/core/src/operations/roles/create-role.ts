import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import { LatchkeyError } from "../../errors.js";
import { missingGrants, type OperationContext } from "../context.js";
import { description, grantName, list, parseInput } from "../input.js";
import { roleFacts } from "./view.js";

/** Input of createRole. `permissions`: names of existing permissions that every key with the role has. */
export const createRoleInput = z.strictObject({
  name: grantName,
  description: description.optional(),
  permissions: list(grantName, 1_000, "names").optional(),
});

/**
 * Makes a role with its permissions, in one step.
 *
 * @throws LatchkeyError `CONFLICT` when the name is taken, `PRECONDITION_FAILED` naming every permission that does
 * not exist; nothing is written then.
 */
export async function createRole(
  context: OperationContext,
  input: z.input<typeof createRoleInput>,
): Promise<{ readonly roleId: string }> {
  const parsed = parseInput(createRoleInput, input);
  const now = context.now();
  const roleId = context.newId("role");
  const { name, permissions = [] } = parsed;
  const description = parsed.description || null;
  const changes = [
    noteChange(context, {
      type: "role.created",
      at: now,
      resourceId: roleId,
      after: roleFacts({ name, description }, permissions),
    }),
  ];
  const outcome = await context.store.insertRole(
    {
      id: roleId,
      workspaceId: context.workspaceId,
      name,
      description,
      createdAt: now,
      version: 1,
    },
    permissions.map((permission) => ({ kind: "name", name: permission, orCreate: null })),
    toLog(context, changes),
  );
  if (outcome.kind === "missing-grants") throw missingGrants(outcome);
  if (outcome.kind === "name-taken")
    throw new LatchkeyError("CONFLICT", "a role of this name exists");
  announce(context, changes);
  return { roleId };
}
