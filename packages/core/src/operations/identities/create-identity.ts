import { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import { type IdentityRecord, identityType, newIdentity } from "../../records/identity.js";
import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import { fromWireLimits } from "../../rules/rate-limit.js";
import { withCheckedIdentityMeta } from "../checked-meta.js";
import { type OperationContext, transact } from "../context.js";
import type { RefillInput } from "../input.js";
import { evenWithIssues, externalId, metadata, parseInput, refill, wholeNumber } from "../input.js";
import { type IdentityLimitInput, identityRatelimits } from "../limit-input.js";
import { identityFields } from "./audit-fields.js";

/** Input of createIdentity. */
export interface CreateIdentityInput<Types extends LatchkeyTypes = DefaultTypes> {
  /** Your own id of the user, unique in the workspace: 1 to 255 characters. */
  readonly externalId: string;
  /** Accepted for older clients, without effect. */
  readonly environment?: string | undefined;
  /** A JSON object of at most 16 KiB and 16 levels, `{}` unless given. Checked by `identityMeta` of createLatchkey. */
  readonly meta?: Types["identityMetaInput"] | undefined;
  /** Limits that the keys of the identity share, at most 50. */
  readonly ratelimits?: readonly IdentityLimitInput<Types>[] | undefined;
  /** Uses that the keys with `usesFrom: "identity"` share: whole and >= 1, unlimited unless given. */
  readonly remaining?: number | undefined;
  /** How the shared uses are restored; needs `remaining`. */
  readonly refill?: RefillInput | undefined;
}

/** Schema of the input of createIdentity. */
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

/** An identity that was created. */
export interface CreatedIdentity {
  /** `id_…` */
  readonly identityId: string;
}

/** @see IdentityOperations.createIdentity */
export async function createIdentity(
  context: OperationContext,
  input: CreateIdentityInput,
): Promise<CreatedIdentity> {
  const parsed = await withCheckedIdentityMeta(context, parseInput(createIdentityInput, input));
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
