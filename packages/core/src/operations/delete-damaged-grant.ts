import { permissionType } from "../records/permission.js";
import { roleType } from "../records/role.js";
import type { Transaction } from "../store/transaction.js";
import { type Audit, notFound, type OperationContext } from "./context.js";
import { decodeOrNull, versionIfReadable } from "./damaged.js";

/** Deletes a role or permission of which not all can be read: no key can be read in full as long as it is there. */
export async function deleteDamagedGrant(
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
  transaction.raiseRevision();
  audit({ type: `${kind}.deleted`, at: now(), resourceId: id, unreadable: true });
}
