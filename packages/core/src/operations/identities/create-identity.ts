import { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import { type IdentityRecord, identityType, newIdentity } from "../../records/identity.js";
import { fromWireLimits } from "../../rules/rate-limit.js";
import { type OperationContext, transact } from "../context.js";
import {
  evenWithIssues,
  externalId,
  identityRatelimits,
  metadata,
  parseInput,
  refill,
  wholeNumber,
} from "../input.js";
import { identityFields } from "./audit-fields.js";

/**
 * Input of createIdentity: the caller's own id of a user, metadata, limits shared by the user's keys, and the uses that
 * those of its keys share that take theirs from it. `remaining` >= 1, unlimited unless given; `refill` needs it.
 */
export const createIdentityInput = z
  .strictObject({
    externalId,
    environment: z.string({ error: "must be a string" }).optional(),
    meta: metadata.optional(),
    ratelimits: identityRatelimits.optional(),
    remaining: wholeNumber(1).optional(),
    refill: refill.optional(),
  })
  .refine(({ refill, remaining }) => refill === undefined || remaining !== undefined, {
    ...evenWithIssues,
    path: ["refill"],
    error: "needs remaining",
  });

/** @throws LatchkeyError `CONFLICT` when an identity of this `externalId` exists. */
export async function createIdentity(
  context: OperationContext,
  input: z.input<typeof createIdentityInput>,
): Promise<{ readonly identityId: string }> {
  const parsed = parseInput(createIdentityInput, input);
  const now = context.now();
  const identity: IdentityRecord = {
    ...newIdentity(context.newId("id"), context.workspaceId, parsed.externalId, now),
    ...(parsed.meta && { meta: parsed.meta }),
    ...(parsed.ratelimits && { ratelimits: fromWireLimits(parsed.ratelimits) }),
    ...(parsed.refill && { refill: parsed.refill }),
  };
  const remaining = parsed.remaining ?? null;
  await transact(context, async (transaction, audit) => {
    transaction.insert(identityType, identity, {
      counters: { usage: { remaining, refilledAt: now, lastRefillAt: null } },
      onTaken: () =>
        new LatchkeyError("CONFLICT", "an identity of this externalId exists", {
          reason: "taken",
          details: { field: "externalId" },
        }),
    });
    audit({
      type: "identity.created",
      at: now,
      resourceId: identity.id,
      identityId: identity.id,
      after: identityFields(identity, remaining),
    });
  });
  return { identityId: identity.id };
}
