import { z } from "zod";
import { roleType } from "../../records/role.js";
import { StaleReadError, type Transaction } from "../../store/transaction.js";
import { type Audit, type OperationContext, transact } from "../context.js";
import { withoutReadableRecord } from "../damaged.js";
import { deleteDamagedGrant } from "../delete-damaged-grant.js";
import { id, parseInput } from "../input.js";
import { namesOf } from "../keys/change.js";
import { readRecordIn } from "../read-record.js";
import { roleFields } from "./view.js";

/** Input of deleteRole. */
export interface DeleteRoleInput {
  /** Id of the role. */
  readonly roleId: string;
}

/** Schema of the input of deleteRole. */
export const deleteRoleInput = z.strictObject({ roleId: id });

/** @see PermissionOperations.deleteRole */
export async function deleteRole(
  context: OperationContext,
  input: DeleteRoleInput,
): Promise<Record<string, never>> {
  const { roleId } = parseInput(deleteRoleInput, input);
  const deleteReadable = (transaction: Transaction, audit: Audit) =>
    deleteKnown(context, transaction, audit, roleId);
  await withoutReadableRecord(
    () => transact(context, deleteReadable),
    () =>
      transact(context, (transaction, audit) =>
        deleteDamagedGrant(context, transaction, audit, "role", roleId),
      ),
  );
  return {};
}

async function deleteKnown(
  context: OperationContext,
  transaction: Transaction,
  audit: Audit,
  roleId: string,
): Promise<void> {
  const want = { kind: "role", id: roleId } as const;
  const { value: role, revision } = await readRecordIn(transaction, roleType, want, "role");
  const held = await context.catalog.loadRoles(context.workspaceId, revision, [role]);
  if (held === null) throw new StaleReadError();
  transaction.delete(roleType, role);
  transaction.raiseRevision();
  audit({
    type: "role.deleted",
    at: context.now(),
    resourceId: roleId,
    before: roleFields(role, namesOf(held[0] ?? [])),
  });
}
