import { z } from "zod";
import { identityType } from "../../records/identity.js";
import { notFound, type OperationContext, transact } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { id, parseInput } from "../input.js";
import { identityFields } from "./audit-fields.js";

/** Input of deleteIdentity. */
export interface DeleteIdentityInput {
  /** Id of the identity. */
  readonly identityId: string;
}

/** Schema of the input of deleteIdentity. */
export const deleteIdentityInput = z.strictObject({ identityId: id });

/** What became of the keys of an identity that was deleted. */
export interface DeletedIdentity {
  /** `unlinked`: they live on, without an owner. */
  readonly keys: "unlinked";
}

/** @see IdentityOperations.deleteIdentity */
export async function deleteIdentity(
  context: OperationContext,
  input: DeleteIdentityInput,
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
      ...(identity === null ? { unreadable: true } : { before: identityFields(identity) }),
    });
  });
  return { keys: "unlinked" };
}
