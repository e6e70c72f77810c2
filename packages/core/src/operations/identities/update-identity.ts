import { z } from "zod";
import { changesNothing } from "../../audit/entry.js";
import { type IdentityRecord, identityType } from "../../records/identity.js";
import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import { fromWireLimits } from "../../rules/rate-limit.js";
import { versionAfter } from "../../rules/record-version.js";
import { configuredWindow } from "../../verification/window-name.js";
import { withCheckedIdentityMeta } from "../checked-meta.js";
import { type OperationContext, transact } from "../context.js";
import type { IdentityReference, RefillInput } from "../input.js";
import {
  EITHER_ID,
  externalId,
  hasEitherId,
  id,
  metadata,
  parseInput,
  refill,
  wholeNumber,
} from "../input.js";
import { type IdentityLimitInput, identityRatelimits } from "../limit-input.js";
import { readRecordIn, usageOf } from "../read-record.js";
import { refuseUsageChange } from "../usage-refusal.js";
import { settingOfUses } from "../uses-and-refill.js";
import { identityFields } from "./audit-fields.js";
import { identityWant } from "./find.js";
import { type IdentityView, toIdentityView } from "./view.js";

/** Input of updateIdentity: which identity, and what changes. What is omitted stays. */
export interface UpdateIdentityInput<Types extends LatchkeyTypes = DefaultTypes>
  extends IdentityReference {
  /** Accepted for older clients, without effect. */
  readonly environment?: string | undefined;
  /** The whole metadata: a JSON object of at most 16 KiB and 16 levels; `{}` clears it. Checked by `identityMeta` of createLatchkey. */
  readonly meta?: Types["identityMetaInput"] | undefined;
  /** The whole set of limits, at most 50; an empty list removes all. A limit that keeps name and duration keeps its window. */
  readonly ratelimits?: readonly IdentityLimitInput<Types>[] | undefined;
  /** Shared uses left: whole and >= 0; null for unlimited, which also takes away the refill. */
  readonly remaining?: number | null | undefined;
  /** How the shared uses are restored; null for not at all. */
  readonly refill?: RefillInput | null | undefined;
}

/** Schema of the input of updateIdentity. */
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

/** @see IdentityOperations.updateIdentity */
export async function updateIdentity(
  context: OperationContext,
  input: UpdateIdentityInput,
): Promise<IdentityView> {
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
      version: versionAfter(identity.version, setsConfiguration),
    };
    const change = {
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
}
