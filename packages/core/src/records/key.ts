import type { Metadata } from "../rules/metadata.js";
import type { RateLimit } from "../rules/rate-limit.js";
import type { Refill } from "../rules/refill.js";
import type { UsesOwner } from "../rules/usage.js";
import type { Usage } from "../store/counters.js";
import type { EpochMs, SpanMs } from "../time.js";
import type { ApiRecord } from "./api.js";
import type { IdentityRecord } from "./identity.js";
import type { NamedGrant } from "./role.js";
import type { WorkspaceRecord } from "./workspace.js";

/** How a limit of a key was asked for. Kept and listed; every limit is exact regardless. */
export type RateLimitType = "fast" | "consistent";

/** A limit of a key. The one named {@link DEFAULT_LIMIT} applies to every verification by itself. */
export interface KeyRateLimit extends RateLimit {
  readonly type: RateLimitType | null;
  readonly async: boolean;
  /** Whether it applies to every verification by itself, and not only to those that name it. */
  readonly autoApply: boolean;
}

/** Name of the limit that a key's `ratelimit` field sets. Always `autoApply`. */
export const DEFAULT_LIMIT = "default";

/** Reads a limit of a key in the words of the HTTP contract; without a name it is {@link DEFAULT_LIMIT}. `duration` in ms. */
export function fromWireKeyLimit(limit: {
  readonly name?: string | undefined;
  readonly type?: RateLimitType | undefined;
  readonly async?: boolean | undefined;
  readonly autoApply?: boolean | undefined;
  readonly limit: number;
  readonly duration: SpanMs;
}): KeyRateLimit {
  const name = limit.name ?? DEFAULT_LIMIT;
  return {
    name,
    limit: limit.limit,
    duration: limit.duration,
    type: limit.type ?? null,
    async: limit.async ?? limit.type === "fast",
    autoApply: name === DEFAULT_LIMIT || limit.autoApply === true,
  };
}

/** The configuration of a key. Its counters live apart, in {@link Usage} and in rate windows. */
export interface KeyRecord {
  readonly id: string;
  readonly workspaceId: string;
  readonly apiId: string;
  /** Hash of the secret; the secret itself is stored nowhere. */
  readonly hash: string;
  /** Leading characters of the secret, few enough to give nothing away. */
  readonly start: string;
  readonly name: string | null;
  readonly identityId: string | null;
  readonly meta: Metadata | null;
  readonly createdAt: EpochMs;
  /** Instant of the latest configuration change, or null before the first. Uses and refills do not touch it. */
  readonly updatedAt: EpochMs | null;
  readonly expiresAt: EpochMs | null;
  readonly switchedOn: boolean;
  readonly refill: Refill | null;
  /** No two of one name. */
  readonly ratelimits: readonly KeyRateLimit[];
  readonly environment: string | null;
  /** `identity`: from what all keys of the identity share; the key's own counter is at rest then. */
  readonly usesFrom: UsesOwner;
  /** The key that this one was made of by rotation, or null. */
  readonly rotatedFrom: string | null;
  /** The one key that was made of this one by rotation, or null. */
  readonly rotatedTo: string | null;
  /**
   * Null for a key that has its counters, of uses and of its limits, to itself. The keys of a rotation share theirs
   * under this id, which is that of the first of them.
   */
  readonly countersId: string | null;
  /** The secret, encrypted, for a recoverable key. */
  readonly sealedSecret: string | null;
  /** Rises by one with every change of a configuration field, never by a use. */
  readonly version: number;
}

/** What a key was given itself, in contrast to what comes with its roles. */
export interface DirectGrants {
  readonly roles: readonly NamedGrant[];
  readonly permissions: readonly NamedGrant[];
}

/** A key with all that a verification or a listing needs of it, read as one consistent snapshot. */
export interface LoadedKey {
  readonly key: KeyRecord;
  /** The key's own counter, as stored: a refill that has fallen due since is not applied. */
  readonly usage: Usage;
  readonly workspace: WorkspaceRecord;
  readonly api: ApiRecord;
  /** Null without an identity, and when the identity was deleted. */
  readonly identity: IdentityRecord | null;
  /** The counter that all keys of the identity share, as stored; null without an identity. */
  readonly identityUsage: Usage | null;
  /** Roles and permissions that the key holds itself, in ascending order of name. */
  readonly direct: DirectGrants;
  /** Names of the key's roles, ascending. */
  readonly roles: readonly string[];
  /** Names of the key's permissions, direct and through roles, without duplicates, ascending. */
  readonly permissions: readonly string[];
  /** Instant of the latest verification that was counted as used, or null; see `KeyStore.addVerifications`. */
  readonly lastUsedAt: EpochMs | null;
  /**
   * The store's own way to find the record again. It comes back with every charge on this key, and is of no
   * meaning to anybody else; a store must not trust that the record still exists.
   */
  readonly handle?: unknown;
}
