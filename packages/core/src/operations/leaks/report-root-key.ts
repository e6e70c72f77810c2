import { rootKeyType } from "../../records/root-key.js";
import type { LeakPolicy } from "../../rules/keys/leak.js";
import { type OperationContext, transact, type Work } from "../context.js";
import { decodeOrNull, deleteRecord, readStored } from "../damaged.js";
import type { Holder } from "./find-holders.js";
import type { LeakedKey } from "./operations.js";
import { auditRootKeyLeak, findReport, type Report } from "./report.js";

/**
 * Handles a root key that leaked, in its own workspace. Nothing enables it again: it authorises no call from then on. Its pointer
 * stays, so that the same report leads to that workspace when the root key is gone.
 */
export async function reportRootKey(
  context: OperationContext,
  report: Report,
  holder: Extract<Holder, { readonly kind: "rootKey" }>,
  policy: LeakPolicy,
): Promise<LeakedKey | null> {
  const there = { ...context, workspaceId: holder.workspaceId };
  return transact(there, (work) => handle(work, report, holder, policy));
}

async function handle(
  work: Work,
  report: Report,
  { id, hash }: Extract<Holder, { readonly kind: "rootKey" }>,
  policy: LeakPolicy,
): Promise<LeakedKey | null> {
  const { context, transaction, audit } = work;
  const record = await readStored(transaction, { kind: "rootKey", id });
  const rootKey = record && decodeOrNull(rootKeyType, record, context.workspaceId);
  // A pointer is a hint, and the root key itself says whose it is.
  if (record === null || (rootKey !== null && rootKey.hash !== hash))
    return findReport(context, report, "anywhere");
  const known = await findReport(context, report, "same-place");
  if (known !== null) return known;
  if (policy === "report") {
    if (rootKey !== null) transaction.putAnew(record);
    return auditRootKeyLeak(work, report, id, policy, false);
  }
  // One that cannot be read cannot be disabled either.
  if (rootKey === null || (policy === "delete" && context.keepsAuditLog)) {
    await deleteRecord(transaction, rootKeyType, id);
    audit({ type: "root_key.revoked", resourceId: id, unreadable: rootKey === null });
    return auditRootKeyLeak(work, report, id, "delete", false);
  }
  const { version } = record;
  transaction.putAnew({ ...rootKeyType.encode({ ...rootKey, enabled: false }), version });
  return auditRootKeyLeak(work, report, id, "disable", rootKey.enabled);
}
