import { z } from "zod";
import { identityLookup, notFound, type OperationContext, untilFresh } from "../context.js";
import { type FullIdentity, toFullIdentity } from "../identity-view.js";
import {
  EITHER_ID,
  externalId,
  hasEitherId,
  id,
  identityRatelimits,
  metadata,
  parseInput,
} from "../input.js";
import { fromWireLimits } from "../rate-limit.js";

/**
 * Input of updateIdentity: one of the two ids (`identityId` wins when both are given), and what changes.
 * `meta: {}` clears; `ratelimits` replaces the whole set, an empty list removes all; what is omitted stays.
 */
export const updateIdentityInput = z
  .strictObject({
    identityId: id.optional(),
    externalId: externalId.optional(),
    environment: z.string({ error: "must be a string" }).optional(),
    meta: metadata.optional(),
    ratelimits: identityRatelimits.optional(),
  })
  .refine(hasEitherId, EITHER_ID);

/**
 * Changes metadata or limits of an identity. Its keys see the new limits with their next verification; a counter
 * whose limit keeps its name and duration goes on.
 *
 * @returns The identity after the update.
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such identity, `BAD_REQUEST` without either id.
 */
export async function updateIdentity(
  context: OperationContext,
  input: z.input<typeof updateIdentityInput>,
): Promise<FullIdentity> {
  const parsed = parseInput(updateIdentityInput, input);
  const lookup = identityLookup(parsed);
  const patch = {
    meta: parsed.meta,
    ratelimits: parsed.ratelimits && fromWireLimits(parsed.ratelimits),
  };
  return untilFresh(async () => {
    const current = await context.store.getIdentity(context.workspaceId, lookup);
    if (current === null) throw notFound("identity");
    if (patch.meta === undefined && patch.ratelimits === undefined) return toFullIdentity(current);
    const outcome = await context.store.updateIdentity(
      context.workspaceId,
      current.id,
      current.version,
      patch,
    );
    if (outcome === "not-found") throw notFound("identity");
    if (outcome === "stale") return "stale";
    const { meta = current.meta, ratelimits = current.ratelimits } = patch;
    return toFullIdentity({ ...current, meta, ratelimits });
  });
}
