import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import { notFound, type OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { identityFacts } from "./audit-fields.js";

/** Input of deleteIdentity. */
export const deleteIdentityInput = z.strictObject({ identityId: id });

/**
 * Deletes an identity, with its metadata, limits and shared uses. Its keys live on without an owner, and are those of no
 * identity that is made under the same `externalId` later; a key that draws from the identity's uses has none from then on.
 *
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such identity.
 */
export async function deleteIdentity(
  context: OperationContext,
  input: z.input<typeof deleteIdentityInput>,
): Promise<Record<string, never>> {
  const { identityId } = parseInput(deleteIdentityInput, input);
  const { store, workspaceId } = context;
  const loaded = await store.getIdentity(workspaceId, { identityId });
  if (loaded === null) throw notFound("identity");
  const changes = [
    noteChange(context, {
      type: "identity.deleted",
      at: context.now(),
      resourceId: identityId,
      identityId,
      before: identityFacts(loaded.identity),
    }),
  ];
  const outcome = await store.deleteIdentity(workspaceId, identityId, toLog(context, changes));
  if (outcome === "not-found") throw notFound("identity");
  announce(context, changes);
  return {};
}
