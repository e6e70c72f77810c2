import type { AuditFields } from "../../audit/entry.js";
import type { IdentityRecord } from "../../records/identity.js";
import { toWireLimits } from "../../rules/rate-limit.js";
import { dueRefill } from "../../rules/refill.js";
import { applyRefill, type Usage } from "../../store/counters.js";
import type { EpochMs } from "../../time.js";
import { toRefillView } from "../uses-and-refill.js";
import type { IdentityView } from "./operations.js";

/** An identity with its metadata, limits and uses, as of `now`. */
export function toIdentityView(identity: IdentityRecord, usage: Usage, now: EpochMs): IdentityView {
  const { id, externalId, meta, ratelimits, refill } = identity;
  const { remaining, lastRefillAt } = applyRefill(usage, dueRefill(refill, now));
  return {
    id,
    externalId,
    meta,
    ratelimits: toWireLimits(ratelimits),
    ...(remaining !== null && { remaining }),
    ...(refill !== null && { refill: toRefillView(refill, lastRefillAt) }),
  };
}

/**
 * The settings of an identity in the words of the HTTP contract, for the audit log.
 *
 * @param remaining - Uses left where the change sets them; undefined: not part of the change.
 */
export function identityFields(identity: IdentityRecord, remaining?: number | null): AuditFields {
  return {
    externalId: identity.externalId,
    meta: Object.keys(identity.meta).length === 0 ? null : identity.meta,
    ratelimits:
      identity.ratelimits.length === 0
        ? null
        : toWireLimits(identity.ratelimits).map((limit) => ({ ...limit })),
    remaining,
    refill: identity.refill,
  };
}
