import { z } from "zod";
import { type PermissionRecord, permissionType } from "../../records/permission.js";
import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../rules/latchkey-types.js";
import { nameTaken, type OperationContext, transact } from "../context.js";
import { description, grantName, parseInput } from "../input.js";

/** Input of createPermission. */
export interface CreatePermissionInput<Types extends LatchkeyTypes = DefaultTypes> {
  /** 1 to 512 of `A-Z a-z 0-9 _ . : * -`. `docs.*` grants all below `docs.`, `*` everything. */
  readonly name: PermissionName<Types>;
  /** For people: at most 512 characters. */
  readonly description?: string | undefined;
}

/** Schema of the input of createPermission. */
export const createPermissionInput = z.strictObject({
  name: grantName,
  description: description.optional(),
});

/** A permission that was created. */
export interface CreatedPermission {
  /** `perm_…` */
  readonly permissionId: string;
}

/** @see PermissionOperations.createPermission */
export async function createPermission(
  context: OperationContext,
  input: CreatePermissionInput,
): Promise<CreatedPermission> {
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
