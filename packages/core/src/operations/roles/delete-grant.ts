import { permissionType } from "../../records/permission.js";
import { roleType } from "../../records/role.js";
import type { Transaction } from "../../store/transaction.js";
import { type Audit, notFound, type OperationContext, transact } from "../context.js";
import { decodeOrNull, versionIfReadable, withoutReadableRecord } from "../damaged.js";

/**
 * Deletes a role or permission, also one whose record cannot be read.
 *
 * @param deleteReadable - Deletes one that can be read.
 */
export async function deleteGrant(
  context: OperationContext,
  kind: "role" | "permission",
  id: string,
  deleteReadable: (transaction: Transaction, audit: Audit) => Promise<void>,
): Promise<void> {
  await withoutReadableRecord(
    () => transact(context, deleteReadable),
    () =>
      transact(context, (transaction, audit) =>
        deleteDamaged(context, transaction, audit, kind, id),
      ),
  );
}

/** Deletes a role or permission of which not all can be read: no key can be read in full as long as it is there. */
async function deleteDamaged(
  { workspaceId, now }: OperationContext,
  transaction: Transaction,
  audit: Audit,
  kind: "role" | "permission",
  id: string,
): Promise<void> {
  const found = await transaction.readOne({ kind, id, expects: "nothing" });
  if (found === null) throw notFound(kind);
  const { record, handle } = found;
  transaction.expect({ kind, id, version: versionIfReadable(record), handle });
  const role = kind === "role" ? decodeOrNull(roleType, record, workspaceId) : null;
  const permission =
    kind === "permission" ? decodeOrNull(permissionType, record, workspaceId) : null;
  if (role !== null) transaction.delete(roleType, role);
  else if (permission !== null) transaction.delete(permissionType, permission);
  else transaction.deleteAddress({ kind, id }, [], [{ list: kind }]);
  transaction.renewRevision();
  audit({ type: `${kind}.deleted`, at: now(), resourceId: id, unreadable: true });
}
