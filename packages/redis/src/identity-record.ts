import type { IdentityPatch, IdentityRecord, LoadedIdentity } from "@latchkey/core";
import { digest } from "./key-names.js";
import { encodeIdentityLimits, encodeRefill, identityLimits, refillOf } from "./limits.js";
import { encodeUses, usesOf } from "./uses.js";
import { damaged, json, metadata, object, readStored, safe, text, whole } from "./values.js";

/** The line of an identity that has no refill. */
const NO_REFILL = "null";

/**
 * Reads an identity, and its uses as they are kept apart.
 *
 * @throws LatchkeyError `STORE_CORRUPT` when a value is not one that could have been written.
 */
export function loadedIdentity(
  workspaceId: string,
  [id, stored, uses]: readonly unknown[],
): LoadedIdentity {
  return readStored("identity", id, () => ({
    identity: identityRecord(workspaceId, text(id), text(stored)),
    usage: usesOf(uses),
  }));
}

/** Reads the five lines of an identity: version, limits, metadata, refill, the rest. */
function identityRecord(workspaceId: string, id: string, stored: string): IdentityRecord {
  const [version, limits, meta, refill, rest, ...more] = stored.split("\n");
  if (more.length > 0) damaged();
  const { externalId, createdAt } = object(json(rest));
  return {
    id,
    workspaceId,
    externalId: text(externalId),
    meta: metadata(meta),
    ratelimits: identityLimits(limits),
    refill: refill === NO_REFILL ? null : refillOf(refill),
    createdAt: safe(createdAt, 0),
    version: whole(version),
  };
}

/** Limits, metadata and refill as scripts take them; "" for what stays as it is. */
export function encodeIdentityPatch(patch: IdentityPatch): readonly [string, string, string] {
  const { ratelimits, meta, refill } = patch;
  return [
    ratelimits === undefined ? "" : encodeIdentityLimits(ratelimits),
    meta === undefined ? "" : JSON.stringify(meta),
    refill === undefined ? "" : refill === null ? NO_REFILL : encodeRefill(refill),
  ];
}

/** Id, record and version as scripts take them. */
export function identityArguments(identity: IdentityRecord): readonly [string, string, string] {
  const { id, externalId, createdAt, version } = identity;
  const rest = JSON.stringify({ externalId, createdAt });
  return [id, [version, ...encodeIdentityPatch(identity), rest].join("\n"), String(version)];
}

/**
 * An identity that is linked, and made where there is none: digest of its external id, and what it is made of. Made on demand
 * it has no number of uses.
 */
export function linkArguments(identity: IdentityRecord): readonly string[] {
  const usage = { remaining: null, refilledAt: identity.createdAt };
  return [digest(identity.externalId), ...identityArguments(identity), encodeUses(usage)];
}
