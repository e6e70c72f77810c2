import type { Metadata } from "../rules/metadata.js";
import type { IdentityRateLimit } from "../rules/rate-limit.js";
import type { Refill } from "../rules/refill.js";
import type { Usage } from "../store/counters.js";
import type { EpochMs } from "../time.js";

/** The end user behind keys. `externalId` is unique in a workspace. */
export interface IdentityRecord {
  readonly id: string;
  readonly workspaceId: string;
  readonly externalId: string;
  readonly meta: Metadata;
  /** Limits shared by all keys of the identity; no two of one name. */
  readonly ratelimits: readonly IdentityRateLimit[];
  /** How the uses that its keys share are restored. */
  readonly refill: Refill | null;
  readonly createdAt: EpochMs;
  /** Rises by one with every change of a field above, never by a use. */
  readonly version: number;
}

/** An identity with the uses that its keys share, as one consistent snapshot. */
export interface LoadedIdentity {
  readonly identity: IdentityRecord;
  /** As stored: a refill that has fallen due since is not applied. */
  readonly usage: Usage;
}

const NO_META: Metadata = Object.freeze({});

/** An identity without metadata, limits and a number of uses, as it is made on demand for a key. */
export function newIdentity(
  id: string,
  workspaceId: string,
  externalId: string,
  createdAt: EpochMs,
): IdentityRecord {
  return {
    id,
    workspaceId,
    externalId,
    meta: NO_META,
    ratelimits: [],
    refill: null,
    createdAt,
    version: 1,
  };
}
