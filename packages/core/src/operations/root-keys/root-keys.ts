import { z } from "zod";
import { DIRECTORY_ID, type RootKeyRecord, rootKeyType } from "../../records/root-key.js";
import { isExpired } from "../../rules/keys/expiry.js";
import type { Transaction } from "../../store/transaction.js";
import type { EpochMs } from "../../time.js";
import { notFound, type OperationContext, transact } from "../context.js";
import { deleteRecord } from "../damaged.js";
import { id, text } from "../input.js";
import { operation, type TableOf } from "../operation.js";
import { pagesOf } from "../read.js";
import { expiryIssues, instant } from "../time-input.js";
import { authenticateRootKey } from "./authenticate-root-key.js";
import { rotateRootKey, updateRootKey } from "./change-root-key.js";
import { readMaker, refuseOutliving, refuseStronger } from "./maker.js";
import { newRootSecret, pointToRootKey, rootKeyFields, rootPermissions } from "./new-root-key.js";
import type { RootKeyOperations, RootKeyScope, RootKeyView } from "./operations.js";

const createRootKeyInput = z.strictObject({
  permissions: rootPermissions,
  name: text(1, 256).optional(),
  expires: instant(1).optional(),
});

export const ROOT_KEY_TABLE = {
  createRootKey: operation(
    createRootKeyInput,
    async (context, { permissions, name = null, expires = null }, scope?: RootKeyScope) => {
      const now = context.now();
      const { key, hash, start } = newRootSecret(context);
      const rootKeyId = context.newId("root");
      const rootKey: RootKeyRecord = {
        id: rootKeyId,
        workspaceId: context.workspaceId,
        hash,
        start,
        name,
        permissions: [...new Set(permissions)],
        expires,
        enabled: true,
        rotatedTo: null,
        createdAt: now,
      };
      const refuseAbove = async (transaction: Transaction) => {
        const maker = await readMaker(transaction, scope?.by, context.now());
        refuseStronger(maker, rootKey);
        refuseOutliving(maker, rootKey);
      };
      // A refusal writes nothing, so it comes before the pointer.
      if (scope?.by !== undefined) await context.transact(context.workspaceId, refuseAbove);
      await pointToRootKey(context, hash, rootKeyId);
      return transact(context, async ({ transaction, audit }) => {
        await refuseAbove(transaction);
        transaction.insert(rootKeyType, rootKey);
        const after = rootKeyFields(rootKey);
        audit({ type: "root_key.created", at: now, resourceId: rootKeyId, after });
        return { rootKeyId, key };
      });
    },
    { issuesAt: expiryIssues },
  ),

  updateRootKey,
  rotateRootKey,

  listRootKeys: pagesOf(rootKeyType, "root-keys", (records, context) => {
    const now = context.now();
    return { rootKeys: records.map((rootKey) => toRootKeyView(rootKey, now)) };
  }),

  revokeRootKey: operation(z.strictObject({ rootKeyId: id }), async (context, { rootKeyId }) => {
    let hash: string | undefined;
    const answer = await transact(context, async ({ transaction, audit }) => {
      const rootKey = await deleteRecord(transaction, rootKeyType, rootKeyId);
      if (rootKey === undefined) throw notFound("rootKey");
      const unreadable = rootKey === null;
      audit({ type: "root_key.revoked", resourceId: rootKeyId, unreadable });
      hash = rootKey?.hash;
      return {};
    });
    if (hash !== undefined) await removePointer(context, hash);
    return answer;
  }),

  authenticateRootKey: { run: authenticateRootKey, input: null },
} satisfies TableOf<RootKeyOperations>;

/** The root key is revoked by now: its pointer leads nowhere, and goes for tidiness. */
async function removePointer(context: OperationContext, hash: string): Promise<void> {
  await context.transact(DIRECTORY_ID, async (transaction) => {
    transaction.deleteAddress({ kind: "rootKeyPointer", id: hash }, [], []);
  });
}

function toRootKeyView(rootKey: RootKeyRecord, now: EpochMs): RootKeyView {
  const { id, start, name, permissions, expires, enabled, rotatedTo, createdAt } = rootKey;
  return {
    id,
    start,
    ...(name !== null && { name }),
    permissions,
    ...(expires !== null && { expires }),
    enabled: enabled && !isExpired(expires, now),
    ...(rotatedTo !== null && { rotatedTo }),
    createdAt,
  };
}
