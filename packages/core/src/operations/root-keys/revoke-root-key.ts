import { z } from "zod";
import { DIRECTORY_ID, rootKeyType } from "../../records/root-key.js";
import { notFound, type OperationContext, transact } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { id, parseInput } from "../input.js";

/** Input of revokeRootKey. */
export interface RevokeRootKeyInput {
  /** Id of the root key. */
  readonly rootKeyId: string;
}

/** Schema of the input of revokeRootKey. */
export const revokeRootKeyInput = z.strictObject({ rootKeyId: id });

/** @see RootKeyOperations.revokeRootKey */
export async function revokeRootKey(
  context: OperationContext,
  input: RevokeRootKeyInput,
): Promise<Record<string, never>> {
  const { rootKeyId } = parseInput(revokeRootKeyInput, input);
  const { answer: hash } = await transact(context, async (transaction, audit) => {
    const want = { kind: "rootKey", id: rootKeyId, expects: "exists" } as const;
    const found = await transaction.readOne(want);
    if (found === null) throw notFound("root key");
    transaction.deleteAddress({ kind: "rootKey", id: rootKeyId }, [], [{ list: "rootKey" }]);
    const rootKey = decodeOrNull(rootKeyType, found.record, context.workspaceId);
    const unreadable = rootKey === null;
    audit({ type: "root_key.revoked", at: context.now(), resourceId: rootKeyId, unreadable });
    return rootKey?.hash ?? null;
  });
  if (hash !== null) await removePointer(context, hash);
  return {};
}

/** The root key is revoked by now: its pointer leads nowhere, and goes for tidiness. */
async function removePointer(context: OperationContext, hash: string): Promise<void> {
  await context.transact(DIRECTORY_ID, async (transaction) => {
    transaction.deleteAddress({ kind: "rootKeyPointer", id: hash }, [], []);
  });
}
