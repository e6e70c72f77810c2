import { z } from "zod";
import type { OperationContext } from "../context.js";
import { LatchkeyError } from "../errors.js";
import { newIdentity } from "../identity.js";
import { externalId, identityRatelimits, metadata, parseInput } from "../input.js";
import { fromWireLimits } from "../rate-limit.js";

/** Input of createIdentity: the caller's own id of a user, metadata, and limits shared by the user's keys. */
export const createIdentityInput = z.strictObject({
  externalId,
  environment: z.string({ error: "must be a string" }).optional(),
  meta: metadata.optional(),
  ratelimits: identityRatelimits.optional(),
});

/** @throws LatchkeyError `CONFLICT` when an identity of this `externalId` exists. */
export async function createIdentity(
  context: OperationContext,
  input: z.input<typeof createIdentityInput>,
): Promise<{ readonly identityId: string }> {
  const parsed = parseInput(createIdentityInput, input);
  const identity = {
    ...newIdentity(context.newId("id"), context.workspaceId, parsed.externalId, context.now()),
    ...(parsed.meta && { meta: parsed.meta }),
    ...(parsed.ratelimits && { ratelimits: fromWireLimits(parsed.ratelimits) }),
  };
  const outcome = await context.store.insertIdentity(identity);
  if (outcome === "external-id-taken")
    throw new LatchkeyError("CONFLICT", "an identity of this externalId exists");
  return { identityId: identity.id };
}
