import { z } from "zod";
import { changesNothing } from "../../audit/entry.js";
import { type RoleRecord, roleType } from "../../records/role.js";
import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../rules/latchkey-types.js";
import { versionAfter } from "../../rules/record-version.js";
import { StaleReadError } from "../../store/transaction.js";
import { type OperationContext, transact } from "../context.js";
import { grantName, id, list, parseInput } from "../input.js";
import { namesOf } from "../keys/change.js";
import { readRecordIn } from "../read-record.js";
import { References } from "../references.js";
import { roleFields } from "./view.js";

/** Input of setRolePermissions. */
export interface SetRolePermissionsInput<Types extends LatchkeyTypes = DefaultTypes> {
  /** Id of the role. */
  readonly roleId: string;
  /** Names of all permissions that every key with the role has: at most 1,000; an empty list clears them. */
  readonly permissions: readonly PermissionName<Types>[];
}

/** Schema of the input of setRolePermissions. */
export const setRolePermissionsInput = z.strictObject({
  roleId: id,
  permissions: list(grantName, 1_000, "names"),
});

/** @see PermissionOperations.setRolePermissions */
export async function setRolePermissions(
  context: OperationContext,
  input: SetRolePermissionsInput,
): Promise<Record<string, never>> {
  const { roleId, permissions } = parseInput(setRolePermissionsInput, input);
  await transact(context, async (transaction, audit) => {
    const want = { kind: "role", id: roleId } as const;
    const { value: role, revision } = await readRecordIn(transaction, roleType, want, "role");
    const held = await context.catalog.loadRoles(context.workspaceId, revision, [role]);
    if (held === null) throw new StaleReadError();
    const references = new References(context, transaction, audit, context.now());
    references.needGrants("permission", permissions);
    await references.read();
    const after: RoleRecord = {
      ...role,
      permissions: references.grantIds("permission", permissions),
      version: versionAfter(role.version, true),
    };
    references.refuseMissing();
    const change = {
      type: "role.updated",
      at: context.now(),
      resourceId: roleId,
      before: roleFields(role, namesOf(held[0] ?? [])),
      after: roleFields(after, permissions),
    } as const;
    if (changesNothing(change)) return;
    transaction.update(roleType, role, after);
    transaction.raiseRevision();
    audit(change);
  });
  return {};
}
