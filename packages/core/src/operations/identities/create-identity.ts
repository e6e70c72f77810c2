import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import { LatchkeyError } from "../../errors.js";
import { type IdentityRecord, newIdentity } from "../../records/identity.js";
import { fromWireLimits } from "../../rules/rate-limit.js";
import type { OperationContext } from "../context.js";
import {
  evenWithIssues,
  externalId,
  identityRatelimits,
  metadata,
  parseInput,
  refill,
  wholeNumber,
} from "../input.js";
import { identityFacts } from "./audit-fields.js";

/**
 * Input of createIdentity: the caller's own id of a user, metadata, limits shared by the user's keys, and the uses that
 * those of its keys share which draw from them. `remaining` >= 1, unlimited unless given; `refill` needs it.
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
  const changes = [
    noteChange(context, {
      type: "identity.created",
      at: now,
      resourceId: identity.id,
      identityId: identity.id,
      after: identityFacts(identity, remaining),
    }),
  ];
  const usage = { remaining, refilledAt: now };
  const outcome = await context.store.insertIdentity(identity, usage, toLog(context, changes));
  if (outcome === "external-id-taken")
    throw new LatchkeyError("CONFLICT", "an identity of this externalId exists");
  announce(context, changes);
  return { identityId: identity.id };
}
