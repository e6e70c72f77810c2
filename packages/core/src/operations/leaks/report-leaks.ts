import { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import { keyType } from "../../records/key.js";
import { rootKeyType } from "../../records/root-key.js";
import {
  decideLeak,
  isDeadForGood,
  LEAK_POLICIES,
  type LeakPolicy,
} from "../../rules/keys/leak.js";
import { notFound, type OperationContext, transact, type Work } from "../context.js";
import { decodeOrNull, deleteRecord, readStored, withoutReadableRecord } from "../damaged.js";
import { list, orRequired, text } from "../input.js";
import { deleteDamaged, deleteLoaded } from "../keys/delete-key.js";
import { getKeyById, readKey } from "../keys/load.js";
import { rotateLoaded, rotationOf } from "../keys/rotate-key.js";
import { switchKey, switchOffDamaged } from "../keys/update-key.js";
import { toKeyView } from "../keys/view.js";
import { operation, type TableOf } from "../operation.js";
import { findHolders, type Holder } from "./find-holders.js";
import {
  auditKeyLeak,
  auditRootKeyLeak,
  findReport,
  type Report,
  reportOf,
} from "./leak-report.js";
import type { LeakedKey, LeakOperations, LeakScope } from "./operations.js";

const reportLeaksInput = z.strictObject({
  leaks: list(
    z.strictObject({
      key: z.string({ error: orRequired("must be a string") }),
      url: text(0, 2_048).optional(),
      source: text(0, 256).optional(),
    }),
    // As many as one read of the store.
    100,
    "leaks",
  ),
  policy: z
    .enum(LEAK_POLICIES, { error: `must be one of ${LEAK_POLICIES.join(", ")}` })
    .default("disable"),
});

export const LEAK_TABLE = {
  reportLeaks: operation(
    reportLeaksInput,
    async (context, { leaks, policy }, { decide }: LeakScope = {}) => {
      const keys = leaks.map(({ key }) => key);
      const holders = await findHolders(context, keys);
      const secrets = keys.filter((_, at) => (holders[at]?.kind ?? "none") !== "none");
      const reports = leaks.map((leak) => reportOf(context, leak, secrets));
      // Most belong to no key here, or to deleted keys: all of these at once. The others one by one, because two may be of one key.
      const answers = await Promise.all(
        reports.map((report, at) =>
          holders[at]?.kind === "none" ? findReport(context, report, "anywhere") : null,
        ),
      );
      for (const [at, report] of reports.entries()) {
        const holder = holders[at];
        if (holder?.kind === "key")
          answers[at] = await reportKey(context, report, holder.id, policy, decide);
        if (holder?.kind === "rootKey")
          answers[at] = await reportRootKey(context, report, holder, policy);
      }
      return { leaks: answers };
    },
  ),
} satisfies TableOf<LeakOperations>;

async function reportKey(
  context: OperationContext,
  report: Report,
  keyId: string,
  policy: LeakPolicy,
  decide: LeakScope["decide"],
): Promise<LeakedKey | null> {
  const known = await findReport(context, report, "same-place");
  if (known !== null) return known;
  try {
    const wanted = decide === undefined ? policy : await decided(context, keyId, decide);
    return await withoutReadableRecord(
      () => transact(context, (work) => handleReadable(work, report, keyId, wanted)),
      () => transact(context, (work) => handleDamaged(work, report, keyId, wanted)),
    );
  } catch (error) {
    // Deleted meanwhile, perhaps by the same report; or its API is, and it with that.
    if (error instanceof LatchkeyError && error.code === "NOT_FOUND")
      return findReport(context, report, "anywhere");
    throw error;
  }
}

/** Nobody can decide about a damaged key: it is disabled. */
function decided(
  context: OperationContext,
  keyId: string,
  decide: NonNullable<LeakScope["decide"]>,
): Promise<LeakPolicy> {
  return withoutReadableRecord<LeakPolicy>(
    async () => decide(toKeyView(await getKeyById(context, keyId), context.now())),
    async () => "disable",
  );
}

async function handleReadable(
  work: Work,
  report: Report,
  keyId: string,
  policy: LeakPolicy,
): Promise<LeakedKey> {
  const { context, transaction } = work;
  const loaded = await readKey(context, transaction, keyId);
  // After the key was read: each report of it writes it, so of two at the same time one runs again, and finds the other.
  const known = await findReport(context, report, "same-place");
  if (known !== null) return known;
  const { key } = loaded;
  const now = context.now();
  const { vault, keepsAuditLog } = context;
  const isRecoverable = key.sealedSecret !== null && vault !== null;
  const canRotate = isRecoverable && rotationOf(loaded, 0, now).kind === "rotate";
  const done = decideLeak(policy, { canRotate, keepsAuditLog });
  if (done === "delete") deleteLoaded(work, loaded);
  else if (done === "rotate") await rotateLoaded(work, loaded, 0);
  else if (done === "disable" && key.enabled && !isDeadForGood(key, now))
    switchKey(work, key, false);
  else if (keepsAuditLog) transaction.update(keyType, key, key);
  else if (done === "disable") return { keyId, action: "disabled", isRepeat: true };
  return auditKeyLeak(work, report, { keyId, identityId: loaded.identity?.id ?? null }, done);
}

/** What can be done to a key that cannot be read: it is disabled, deleted or only reported. */
async function handleDamaged(
  work: Work,
  report: Report,
  keyId: string,
  policy: LeakPolicy,
): Promise<LeakedKey> {
  const { context, transaction } = work;
  const record = await readStored(transaction, { kind: "key", id: keyId });
  if (record === null) throw notFound("key");
  const known = await findReport(context, report, "same-place");
  if (known !== null) return known;
  const asTold = policy === "report" || (policy === "delete" && context.keepsAuditLog);
  const done = asTold ? policy : "disable";
  if (done === "delete") await deleteDamaged(work, keyId);
  else if (done === "disable") switchOffDamaged(work, record);
  return auditKeyLeak(work, report, { keyId, identityId: record.link }, done);
}

/**
 * Handles a root key that leaked, in its own workspace. Nothing enables it again: it authorises no call from then on. Its pointer
 * stays, so that the same report leads to that workspace when the root key is gone.
 */
function reportRootKey(
  caller: OperationContext,
  report: Report,
  { id, hash, workspaceId }: Extract<Holder, { readonly kind: "rootKey" }>,
  policy: LeakPolicy,
): Promise<LeakedKey | null> {
  return transact({ ...caller, workspaceId }, async (work) => {
    const { context, transaction, audit } = work;
    const record = await readStored(transaction, { kind: "rootKey", id });
    const rootKey = record && decodeOrNull(rootKeyType, record, workspaceId);
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
  });
}
