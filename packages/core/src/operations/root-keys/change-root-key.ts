import { z } from "zod";
import { changesNothing } from "../../audit/entry.js";
import { unmet } from "../../errors.js";
import { type RootKeyRecord, rootKeyType } from "../../records/root-key.js";
import { decideRotation, putsOffRotated } from "../../rules/keys/rotation.js";
import type { Transaction } from "../../store/transaction.js";
import { transact } from "../context.js";
import { id, text } from "../input.js";
import { oldExpiry } from "../keys/rotate-key.js";
import { operation } from "../operation.js";
import { readRecordIn } from "../read.js";
import { expiryIssues, grace, instant } from "../time-input.js";
import { readMaker, refuseOutliving, refuseStronger } from "./maker.js";
import { newRootSecret, pointToRootKey, rootKeyFields, rootPermissions } from "./new-root-key.js";
import type { RootKeyScope } from "./operations.js";

const updateRootKeyInput = z.strictObject({
  rootKeyId: id,
  name: text(1, 256).nullable().optional(),
  permissions: rootPermissions.optional(),
  expires: instant(1).nullable().optional(),
});

export const updateRootKey = operation(
  updateRootKeyInput,
  (context, { rootKeyId, permissions, name, expires }, scope?: RootKeyScope) =>
    transact(context, async ({ transaction, audit }) => {
      const maker = await readMaker(transaction, scope?.by, context.now());
      const rootKey = await readRootKey(transaction, rootKeyId);
      const after: RootKeyRecord = {
        ...rootKey,
        ...(name !== undefined && { name }),
        ...(permissions !== undefined && { permissions: [...new Set(permissions)] }),
        ...(expires !== undefined && { expires }),
      };
      refuseStronger(maker, rootKey);
      refuseStronger(maker, after);
      if (expires !== undefined) refuseOutliving(maker, after);
      if (putsOffRotated(rootKey.rotatedTo, rootKey.expires, after.expires))
        throw unmet("key-rotated", "this root key was rotated: its expiry cannot be put off");
      const change = {
        type: "root_key.updated",
        resourceId: rootKeyId,
        before: rootKeyFields(rootKey),
        after: rootKeyFields(after),
      } as const;
      if (!changesNothing(change)) {
        transaction.update(rootKeyType, rootKey, after);
        audit(change);
      }
      return {};
    }),
  { issuesAt: expiryIssues },
);

export const rotateRootKey = operation(
  z.strictObject({ rootKeyId: id, graceMs: grace }),
  async (context, { rootKeyId, graceMs }, scope?: RootKeyScope) => {
    // A refusal writes nothing, so it comes before the pointer.
    const readBounded = async (transaction: Transaction) => {
      const maker = await readMaker(transaction, scope?.by, context.now());
      const rootKey = await readRootKey(transaction, rootKeyId);
      refuseStronger(maker, rootKey);
      refuseOutliving(maker, rootKey);
      return rootKey;
    };
    await context.transact(context.workspaceId, async (transaction) => {
      const rootKey = await readBounded(transaction);
      oldExpiry("root key", decideRotation(rootKey, graceMs, context.now()));
    });
    const { key, hash, start } = newRootSecret(context);
    const successorId = context.newId("root");
    await pointToRootKey(context, hash, successorId);
    return transact(context, async ({ transaction, audit }) => {
      const rootKey = await readBounded(transaction);
      const now = context.now();
      const expires = oldExpiry("root key", decideRotation(rootKey, graceMs, now));
      const successor = { ...rootKey, id: successorId, hash, start, createdAt: now };
      transaction.update(rootKeyType, rootKey, { ...rootKey, expires, rotatedTo: successorId });
      transaction.insert(rootKeyType, successor);
      audit({
        type: "root_key.rotated",
        at: now,
        resourceId: rootKeyId,
        before: { expires: rootKey.expires },
        after: { rotatedTo: successorId, expires },
      });
      const after = rootKeyFields(successor);
      audit({ type: "root_key.created", at: now, resourceId: successorId, after });
      return { rootKeyId: successorId, key };
    });
  },
);

async function readRootKey(transaction: Transaction, rootKeyId: string): Promise<RootKeyRecord> {
  const want = { kind: "rootKey", id: rootKeyId } as const;
  return (await readRecordIn(transaction, rootKeyType, want)).value;
}
