import { z } from "zod";
import { announce, noteChange, toLog } from "../../audit/entry.js";
import type { IdentityRecord } from "../../records/identity.js";
import { fromWireLimits } from "../../rules/rate-limit.js";
import type { IdentityPatch } from "../../store/wide-store.js";
import { identityLookup, notFound, type OperationContext, untilFresh } from "../context.js";
import {
  EITHER_ID,
  externalId,
  hasEitherId,
  id,
  identityRatelimits,
  metadata,
  parseInput,
  refill,
  wholeNumber,
} from "../input.js";
import { refuseUsageChange } from "../usage-refusal.js";
import { settingOfUses } from "../usage-setting.js";
import { identityFacts } from "./audit-fields.js";
import { type FullIdentity, toFullIdentity } from "./view.js";

/**
 * Input of updateIdentity: one of the two ids (`identityId` wins when both are given), and what changes.
 * `meta: {}` clears; `ratelimits` replaces the whole set, an empty list removes all; `remaining` >= 0, null for unlimited,
 * which also takes away the refill; `refill: null` takes it away; what is omitted stays.
 */
export const updateIdentityInput = z
  .strictObject({
    identityId: id.optional(),
    externalId: externalId.optional(),
    environment: z.string({ error: "must be a string" }).optional(),
    meta: metadata.optional(),
    ratelimits: identityRatelimits.optional(),
    remaining: wholeNumber(0).nullish(),
    refill: refill.nullish(),
  })
  .refine(hasEitherId, EITHER_ID);

/**
 * Changes metadata, limits or shared uses of an identity. Its keys see it with their next verification; a counter
 * whose limit keeps its name and duration goes on.
 *
 * @returns The identity after the update.
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such identity, `BAD_REQUEST` without either id and for a
 * refill without `remaining`.
 */
export async function updateIdentity(
  context: OperationContext,
  input: z.input<typeof updateIdentityInput>,
): Promise<FullIdentity> {
  const parsed = parseInput(updateIdentityInput, input);
  const lookup = identityLookup(parsed);
  const { store, workspaceId } = context;
  return untilFresh(async () => {
    const loaded = await store.getIdentity(workspaceId, lookup);
    if (loaded === null) throw notFound("identity");
    const now = context.now();
    const { identity } = loaded;
    const { usage, refill, remainingBefore } = settingOfUses(
      { usage: loaded.usage, refill: identity.refill },
      parsed,
      now,
    );
    const patch: IdentityPatch = {
      meta: parsed.meta,
      ratelimits: parsed.ratelimits && fromWireLimits(parsed.ratelimits),
      refill,
      usage,
    };
    if (Object.values(patch).every((field) => field === undefined))
      return toFullIdentity(loaded, now);
    const after: IdentityRecord = {
      ...identity,
      meta: patch.meta ?? identity.meta,
      ratelimits: patch.ratelimits ?? identity.ratelimits,
      refill: patch.refill === undefined ? identity.refill : patch.refill,
    };
    const changes = [
      noteChange(context, {
        type: "identity.updated",
        at: now,
        resourceId: identity.id,
        identityId: identity.id,
        // As it was when this was decided: verifications move it without a word.
        before: identityFacts(
          identity,
          parsed.remaining === undefined ? undefined : remainingBefore,
        ),
        after: identityFacts(after, parsed.remaining),
      }),
    ];
    const outcome = await store.updateIdentity(
      workspaceId,
      identity.id,
      identity.version,
      patch,
      toLog(context, changes),
    );
    switch (outcome.kind) {
      case "updated":
        announce(context, changes);
        return toFullIdentity({ identity: after, usage: outcome.usage }, now);
      case "stale":
        return "stale";
      case "not-found":
        throw notFound("identity");
      case "usage-refused":
        throw refuseUsageChange(outcome.reason, "remaining");
      default:
        return outcome satisfies never;
    }
  });
}
