import { z } from "zod";
import { type IdentityRecord, identityType } from "../../records/identity.js";
import { fromWireLimits } from "../../rules/rate-limit.js";
import { versionAfter } from "../../rules/record-version.js";
import { configuredWindow } from "../../verification/window-name.js";
import { type OperationContext, transact } from "../context.js";
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
import { readRecordIn, usageOf } from "../read-record.js";
import { refuseUsageChange } from "../usage-refusal.js";
import { settingOfUses } from "../uses-and-refill.js";
import { identityFields } from "./audit-fields.js";
import { identityWant } from "./find.js";
import { type IdentityView, toIdentityView } from "./view.js";

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
): Promise<IdentityView> {
  const parsed = parseInput(updateIdentityInput, input);
  const want = identityWant(parsed);
  const { answer, usages } = await transact(context, async (transaction, audit) => {
    const found = await readRecordIn(transaction, identityType, want, "identity");
    const now = context.now();
    const { value: identity } = found;
    const before = usageOf(found.loaded);
    const uses = settingOfUses({ usage: before, refill: identity.refill }, parsed, now);
    const ratelimits = parsed.ratelimits && fromWireLimits(parsed.ratelimits);
    const setsConfiguration = [parsed.meta, ratelimits, uses.refill].some(
      (field) => field !== undefined,
    );
    if (!setsConfiguration && uses.usage === undefined) return { identity, before, now };
    const after: IdentityRecord = {
      ...identity,
      meta: parsed.meta ?? identity.meta,
      ratelimits: ratelimits ?? identity.ratelimits,
      refill: uses.refill === undefined ? identity.refill : uses.refill,
      version: versionAfter(identity.version, setsConfiguration),
    };
    if (setsConfiguration) transaction.update(identityType, identity, after);
    transaction.changeCounters(
      {
        kind: "identity",
        id: identity.id,
        usage: uses.usage,
        keepWindows: ratelimits?.map(configuredWindow),
      },
      (reason) => refuseUsageChange(reason, "remaining"),
    );
    audit({
      type: "identity.updated",
      at: now,
      resourceId: identity.id,
      identityId: identity.id,
      // As it was when this was decided: verifications move it without an entry.
      before: identityFields(
        identity,
        parsed.remaining === undefined ? undefined : uses.remainingBefore,
      ),
      after: identityFields(after, parsed.remaining),
    });
    return { identity: after, before, now };
  });
  return toIdentityView(answer.identity, usages[0] ?? answer.before, answer.now);
}
