import { z } from "zod";
import { type RoleRecord, roleType } from "../../records/role.js";
import { nameTaken, type OperationContext, transact } from "../context.js";
import { description, grantName, list, parseInput } from "../input.js";
import { References } from "../references.js";
import { roleFields } from "./view.js";

/** Input of createRole. `permissions`: names of existing permissions that every key with the role has. */
export const createRoleInput = z.strictObject({
  name: grantName,
  description: description.optional(),
  permissions: list(grantName, 1_000, "names").optional(),
});

/**
 * Creates a role with its permissions.
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
  await transact(context, async (transaction, audit) => {
    const references = new References(context, transaction, audit, now);
    references.needGrants("permission", permissions);
    const want = { kind: "role", index: "name", value: name, expects: "nothing" } as const;
    if ((await transaction.readOne(want)) !== null) throw nameTaken("role");
    await references.read();
    const role: RoleRecord = {
      id: roleId,
      workspaceId: context.workspaceId,
      name,
      description: parsed.description || null,
      permissions: references.grantIds("permission", permissions),
      createdAt: now,
      version: 1,
    };
    references.refuseMissing();
    transaction.insert(roleType, role, { onTaken: () => nameTaken("role") });
    audit({
      type: "role.created",
      at: now,
      resourceId: roleId,
      after: roleFields(role, permissions),
    });
  });
  return { roleId };
}
