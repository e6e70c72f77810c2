import type { KeyRecord } from "@latchkey/core";

/**
 * A copy that nobody can change, neither whoever handed the value in nor whoever is handed it out.
 *
 * For JSON values; the depth is bounded by those who accept them.
 */
export function frozenCopy<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy)) as Value;
  const members = Object.entries(value).map(([name, member]) => [name, frozenCopy(member)]);
  return Object.freeze(Object.fromEntries(members)) as Value;
}

const NO_LIMITS: KeyRecord["ratelimits"] = Object.freeze([]);

/**
 * The record of a key as it is kept. Every field is written out, so that all records share one shape: a
 * record copied by spreading takes twice the room.
 */
export function frozenKey(key: KeyRecord): KeyRecord {
  return Object.freeze({
    id: key.id,
    workspaceId: key.workspaceId,
    apiId: key.apiId,
    hash: key.hash,
    start: key.start,
    name: key.name,
    identityId: key.identityId,
    meta: frozenCopy(key.meta),
    createdAt: key.createdAt,
    updatedAt: key.updatedAt,
    expiresAt: key.expiresAt,
    switchedOn: key.switchedOn,
    refill: frozenCopy(key.refill),
    ratelimits: key.ratelimits.length === 0 ? NO_LIMITS : frozenCopy(key.ratelimits),
    environment: key.environment,
    usesFrom: key.usesFrom,
    rotatedFrom: key.rotatedFrom,
    rotatedTo: key.rotatedTo,
    countersId: key.countersId,
    sealedSecret: key.sealedSecret,
    version: key.version,
  });
}
