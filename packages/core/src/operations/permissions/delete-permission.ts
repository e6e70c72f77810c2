import { z } from "zod";
import { permissionType } from "../../records/permission.js";
import type { Transaction } from "../../store/transaction.js";
import { type Audit, type OperationContext, transact } from "../context.js";
import { withoutReadableRecord } from "../damaged.js";
import { deleteDamagedGrant } from "../delete-damaged-grant.js";
import { id, parseInput } from "../input.js";
import { readRecordIn } from "../read-record.js";

/** Input of deletePermission. */
export interface DeletePermissionInput {
  /** Id of the permission. */
  readonly permissionId: string;
}

/** Schema of the input of deletePermission. */
export const deletePermissionInput = z.strictObject({ permissionId: id });

/** @see PermissionOperations.deletePermission */
export async function deletePermission(
  context: OperationContext,
  input: DeletePermissionInput,
): Promise<Record<string, never>> {
  const { permissionId } = parseInput(deletePermissionInput, input);
  const deleteReadable = (transaction: Transaction, audit: Audit) =>
    deleteKnown(context, transaction, audit, permissionId);
  await withoutReadableRecord(
    () => transact(context, deleteReadable),
    () =>
      transact(context, (transaction, audit) =>
        deleteDamagedGrant(context, transaction, audit, "permission", permissionId),
      ),
  );
  return {};
}

async function deleteKnown(
  context: OperationContext,
  transaction: Transaction,
  audit: Audit,
  permissionId: string,
): Promise<void> {
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
}
