import type { AuditFields } from "../../audit/diff.js";
import type { IdentityRecord } from "../../records/identity.js";
import { toWireLimits } from "../../rules/rate-limit.js";

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
