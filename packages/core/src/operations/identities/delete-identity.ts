import { z } from "zod";
import { identityType } from "../../records/identity.js";
import { notFound, type OperationContext, transact } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { id, parseInput } from "../input.js";
import { identityFields } from "./audit-fields.js";

/** Input of deleteIdentity. */
export const deleteIdentityInput = z.strictObject({ identityId: id });

/** What became of the keys of an identity that was deleted. */
export interface DeletedIdentity {
  /** `unlinked`: they live on, without an owner. */
  readonly keys: "unlinked";
}

/**
 * Deletes an identity, with its metadata, limits and shared uses. Its keys live on without an owner, and the answer says so:
 * they belong to no identity that is created under the same `externalId` later, and those that take their uses from the
 * identity have none from then on. To revoke them, list them by `externalId` and delete them first.
 *
 * An identity whose record cannot be read is deleted all the same.
 *
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such identity.
 */
export async function deleteIdentity(
  context: OperationContext,
  input: z.input<typeof deleteIdentityInput>,
): Promise<DeletedIdentity> {
  const { identityId } = parseInput(deleteIdentityInput, input);
  await transact(context, async (transaction, audit) => {
    const found = await transaction.readOne({
      kind: "identity",
      id: identityId,
      expects: "nothing",
    });
    if (found === null) throw notFound("identity");
    const identity = decodeOrNull(identityType, found.record, context.workspaceId);
    const address = { kind: "identity", id: identityId } as const;
    const version = identity === null ? "exists" : identity.version;
    transaction.expect({ ...address, version, handle: found.handle });
    if (identity !== null) transaction.delete(identityType, identity);
    else transaction.deleteAddress(address, [], [{ list: "identity" }]);
    audit({
      type: "identity.deleted",
      at: context.now(),
      resourceId: identityId,
      identityId,
      ...(identity !== null && { before: identityFields(identity) }),
    });
  });
  return { keys: "unlinked" };
}
