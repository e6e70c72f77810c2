import type { Facts } from "../../audit/diff.js";
import type { KeyRecord } from "../../records/key.js";
import { toWireKeyLimits } from "./limits.js";

/** What a key's record does not hold itself. Undefined: not to be told of. */
export interface KeyLinks {
  readonly externalId?: string | null | undefined;
  readonly remaining?: number | null | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly permissions?: readonly string[] | undefined;
}

/** The settings of a key in the words of the HTTP contract, for the audit log: neither hash nor secret is among them. */
export function keyFacts(key: Omit<KeyRecord, "hash">, links: KeyLinks = {}): Facts {
  return {
    apiId: key.apiId,
    name: key.name,
    externalId: links.externalId,
    meta: key.meta,
    expires: key.expiresAt,
    enabled: key.switchedOn,
    usesFrom: key.usesFrom,
    remaining: links.remaining,
    refill: key.refill,
    ratelimits: key.ratelimits.length === 0 ? null : toWireKeyLimits(key.ratelimits),
    environment: key.environment,
    roles: links.roles === undefined || links.roles.length === 0 ? null : links.roles,
    permissions:
      links.permissions === undefined || links.permissions.length === 0 ? null : links.permissions,
    recoverable: key.sealedSecret === null ? null : true,
    rotatedFrom: key.rotatedFrom,
    rotatedTo: key.rotatedTo,
  };
}
