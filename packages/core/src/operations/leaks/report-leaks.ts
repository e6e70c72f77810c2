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
    // As many as one read of the store takes.
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
      // Most leaks belong to no key here, or to deleted keys: these are looked up all at once. The others go one by one, because two may be
      // of the same key.
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
    // The key or its API was deleted meanwhile, perhaps by the same report.
    if (error instanceof LatchkeyError && error.code === "NOT_FOUND")
      return findReport(context, report, "anywhere");
    throw error;
  }
}

/** Asks `decide`; a damaged key cannot be shown to it, and is disabled. */
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
  // Searched after the key was read: every report of a key writes the key, so of two at the same time one runs again and finds the other.
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

/** Handles a key that cannot be read: it can be disabled, deleted or only reported. */
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
  const isAllowed = policy === "report" || (policy === "delete" && context.keepsAuditLog);
  const done = isAllowed ? policy : "disable";
  if (done === "delete") await deleteDamaged(work, keyId);
  else if (done === "disable") switchOffDamaged(work, record);
  return auditKeyLeak(work, report, { keyId, identityId: record.link }, done);
}

/**
 * Handles a leaked root key in its own workspace. Once disabled, it can never be enabled again. Its pointer stays, so that a repeat of the
 * report finds the workspace even when the root key is gone.
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
    // A pointer is only a hint: the hash of the root key itself decides.
    if (record === null || (rootKey !== null && rootKey.hash !== hash))
      return findReport(context, report, "anywhere");
    const known = await findReport(context, report, "same-place");
    if (known !== null) return known;
    if (policy === "report") {
      if (rootKey !== null) transaction.putAnew(record);
      return auditRootKeyLeak(work, report, id, policy, false);
    }
    // A root key that cannot be read cannot be disabled either.
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
