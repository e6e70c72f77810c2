import { z } from "zod";
import { type RoleRecord, roleType } from "../../records/role.js";
import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../rules/latchkey-types.js";
import { nameTaken, type OperationContext, transact } from "../context.js";
import { description, grantName, list, parseInput } from "../input.js";
import { References } from "../references.js";
import { roleFields } from "./view.js";

/** Input of createRole. */
export interface CreateRoleInput<Types extends LatchkeyTypes = DefaultTypes> {
  /** 1 to 512 of `A-Z a-z 0-9 _ . : * -`. */
  readonly name: string;
  /** For people: at most 512 characters. */
  readonly description?: string | undefined;
  /** Names of existing permissions that every key with the role has: at most 1,000, none unless given. */
  readonly permissions?: readonly PermissionName<Types>[] | undefined;
}

/** Schema of the input of createRole. */
export const createRoleInput = z.strictObject({
  name: grantName,
  description: description.optional(),
  permissions: list(grantName, 1_000, "names").optional(),
});

/** A role that was created. */
export interface CreatedRole {
  /** `role_…` */
  readonly roleId: string;
}

/** @see PermissionOperations.createRole */
export async function createRole(
  context: OperationContext,
  input: CreateRoleInput,
): Promise<CreatedRole> {
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
