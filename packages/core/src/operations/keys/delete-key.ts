import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import { notFound, type OperationContext } from "../context.js";
import { flag, id, parseInput } from "../input.js";
import { keyFacts } from "./audit-fields.js";

/** Input of deleteKey. `permanent`: nothing of the key's record is kept, in no store. */
export const deleteKeyInput = z.strictObject({ keyId: id, permanent: flag.default(false) });

/**
 * Deletes a key. When this has resolved, no verification that starts later, from any process, succeeds; its encrypted
 * secret is erased.
 *
 * Either way the key is gone for good as far as latchkey goes. Without `permanent` a store may keep the rest of the record
 * (SQLite does) for whoever looks after its data by hand; with it nothing is kept but the entries of the audit log.
 *
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key.
 */
export async function deleteKey(
  context: OperationContext,
  input: z.input<typeof deleteKeyInput>,
): Promise<Record<string, never>> {
  const { keyId, permanent } = parseInput(deleteKeyInput, input);
  const { store, workspaceId } = context;
  const loaded = await store.getKey(workspaceId, keyId);
  if (loaded === null) throw notFound("key");
  const now = context.now();
  const { key, identity, direct } = loaded;
  const changes = [
    noteChange(context, {
      type: "key.deleted",
      at: now,
      resourceId: keyId,
      keyId,
      identityId: identity?.id ?? null,
      before: keyFacts(key, {
        externalId: identity?.externalId,
        roles: direct.roles.map(({ name }) => name),
        permissions: direct.permissions.map(({ name }) => name),
      }),
    }),
  ];
  const removal = { deletedAt: now, permanent };
  const outcome = await store.deleteKey(workspaceId, keyId, removal, toLog(context, changes));
  if (outcome === "not-found") throw notFound("key");
  announce(context, changes);
  return {};
}
