import type { IdentityPatch, IdentityRecord, KeyPatch, KeyRecord, Rotation } from "@latchkey/core";
import { frozenCopy, frozenKey } from "./frozen.js";

/**
 * The record with the fields that the patch gives. The version rises, unless the patch gives nothing but
 * `usage` and `updatedAt`; a field that is given counts as changed, whatever it was before.
 *
 * @param identityId - The identity that the key is linked to afterwards.
 */
export function patchedKey(key: KeyRecord, patch: KeyPatch, identityId: string | null): KeyRecord {
  return frozenKey({
    ...key,
    name: given(patch.name, key.name),
    identityId,
    meta: given(patch.meta, key.meta),
    updatedAt: given(patch.updatedAt, key.updatedAt),
    expiresAt: given(patch.expiresAt, key.expiresAt),
    switchedOn: given(patch.switchedOn, key.switchedOn),
    refill: given(patch.refill, key.refill),
    ratelimits: given(patch.ratelimits, key.ratelimits),
    environment: given(patch.environment, key.environment),
    usesFrom: given(patch.usesFrom, key.usesFrom),
    sealedSecret: given(patch.sealedSecret, key.sealedSecret),
    version: hasConfiguration(patch) ? key.version + 1 : key.version,
  });
}

/** The record of a key that another takes the place of, with the next version. */
export function rotatedKey(key: KeyRecord, rotation: Rotation): KeyRecord {
  const { successor, expiresAt, updatedAt } = rotation;
  return frozenKey({
    ...key,
    updatedAt,
    expiresAt,
    rotatedTo: successor.id,
    countersId: successor.countersId,
    version: key.version + 1,
  });
}

/** The identity with the fields that the patch gives. The version rises unless that is nothing but `usage`. */
export function patchedIdentity(identity: IdentityRecord, patch: IdentityPatch): IdentityRecord {
  return frozenCopy({
    ...identity,
    meta: given(patch.meta, identity.meta),
    ratelimits: given(patch.ratelimits, identity.ratelimits),
    refill: given(patch.refill, identity.refill),
    version: hasConfiguration(patch) ? identity.version + 1 : identity.version,
  });
}

function hasConfiguration({
  usage: _usage,
  updatedAt: _updatedAt,
  ...configuration
}: KeyPatch | (IdentityPatch & { updatedAt?: never })): boolean {
  return Object.values(configuration).some((field) => field !== undefined);
}

function given<Value>(value: Value | undefined, current: Value): Value {
  return value === undefined ? current : value;
}
