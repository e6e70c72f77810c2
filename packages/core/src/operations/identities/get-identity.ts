import { z } from "zod";
import { identityLookup, notFound, type OperationContext } from "../context.js";
import { EITHER_ID, externalId, hasEitherId, id, parseInput } from "../input.js";
import { type FullIdentity, toFullIdentity } from "./view.js";

/** Input of getIdentity: one of the two ids; `identityId` wins when both are given. */
export const getIdentityInput = z
  .strictObject({
    identityId: id.optional(),
    externalId: externalId.optional(),
  })
  .refine(hasEitherId, EITHER_ID);

/** @throws LatchkeyError `NOT_FOUND` when this workspace has no such identity, `BAD_REQUEST` without either id. */
export async function getIdentity(
  context: OperationContext,
  input: z.input<typeof getIdentityInput>,
): Promise<FullIdentity> {
  const lookup = identityLookup(parseInput(getIdentityInput, input));
  const identity = await context.store.getIdentity(context.workspaceId, lookup);
  if (identity === null) throw notFound("identity");
  return toFullIdentity(identity, context.now());
}
