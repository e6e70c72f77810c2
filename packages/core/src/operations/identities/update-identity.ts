import { z } from "zod";
import { changesNothing } from "../../audit/entry.js";
import { type IdentityRecord, identityType } from "../../records/identity.js";
import { fromWireLimits } from "../../rules/rate-limit.js";
import { configuredWindow } from "../../verification/window-name.js";
import { withCheckedIdentityMeta } from "../checked-meta.js";
import { transact } from "../context.js";
import { metadata, parseInput, refill, wholeNumber } from "../input.js";
import { identityRatelimits } from "../limit-input.js";
import { readRecordIn, usageOf } from "../read.js";
import type { Run } from "../run.js";
import { refuseUsageChange, settingOfUses } from "../uses-and-refill.js";
import type { IdentityOperations } from "./operations.js";
import { EITHER_ID, hasEitherId, identityIds, identityWant } from "./reference.js";
import { identityFields, toIdentityView } from "./view.js";

/** Schema of the input of updateIdentity. */
export const updateIdentityInput = z
  .strictObject({
    ...identityIds,
    meta: metadata.optional(),
    ratelimits: identityRatelimits.optional(),
    remaining: wholeNumber(0).nullish(),
    refill: refill.nullish(),
  })
  .refine(hasEitherId, EITHER_ID);

/** @see IdentityOperations.updateIdentity */
export const updateIdentity: Run<IdentityOperations["updateIdentity"]> = async (context, input) => {
  const parsed = await withCheckedIdentityMeta(context, parseInput(updateIdentityInput, input));
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
    const after: IdentityRecord = {
      ...identity,
      meta: parsed.meta ?? identity.meta,
      ratelimits: ratelimits ?? identity.ratelimits,
      refill: uses.refill === undefined ? identity.refill : uses.refill,
    };
    const change = {
      type: "identity.updated",
      at: now,
      resourceId: identity.id,
      // As it was when this was decided: verifications move it without an entry.
      before: identityFields(
        identity,
        parsed.remaining === undefined ? undefined : uses.remainingBefore,
      ),
      after: identityFields(after, parsed.remaining),
    } as const;
    if (changesNothing(change) && !uses.restartsRefills) return { identity, before, now };
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
    audit(change);
    return { identity: after, before, now };
  });
  return toIdentityView(answer.identity, usages[0] ?? answer.before, answer.now);
};
