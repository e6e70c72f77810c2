import type { AuditFields } from "../../audit/diff.js";
import type { KeyRecord } from "../../records/key.js";
import { toWireKeyLimits } from "./limits.js";

/** What a key's record does not hold itself, by name. Undefined: not part of the change. */
export interface KeyLinks {
  readonly externalId?: string | null | undefined;
  readonly remaining?: number | null | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly permissions?: readonly string[] | undefined;
}

/** The settings of a key in the words of the HTTP contract, for the audit log: neither hash nor secret is among them. */
export function keyFields(
  key: Omit<KeyRecord, "hash" | "roles" | "permissions">,
  links: KeyLinks = {},
): AuditFields {
  return {
    apiId: key.apiId,
    name: key.name,
    externalId: links.externalId,
    meta: key.meta,
    expires: key.expires,
    enabled: key.enabled,
    usesFrom: key.usesFrom,
    remaining: links.remaining,
    refill: key.refill,
    ratelimits: key.ratelimits.length === 0 ? null : toWireKeyLimits(key.ratelimits),
    environment: key.environment,
    roles: unlessNone(links.roles),
    permissions: unlessNone(links.permissions),
    recoverable: key.sealedSecret === null ? null : true,
    rotatedFrom: key.rotatedFrom,
    rotatedTo: key.rotatedTo,
  };
}

function unlessNone(names: readonly string[] | undefined): readonly string[] | null {
  return names === undefined || names.length === 0 ? null : names;
}
