import type { LoadedKey } from "./key.js";
import { DEFAULT_LIMIT, type RateLimitType } from "./key.js";
import { keyState } from "./lifecycle.js";
import type { Metadata } from "./metadata.js";
import { dueRefill } from "./refill.js";
import type { EpochMs, SpanMs } from "./time.js";
import { settleRefill } from "./usage.js";
import { publicIdentity, type VerifiedKey } from "./verdict.js";

/** A key as listings show it. Fields without a value are absent. Instants and spans in ms. */
export interface ListedKey {
  readonly id: string;
  readonly start: string;
  readonly apiId: string;
  readonly workspaceId: string;
  readonly createdAt: EpochMs;
  /** Role names, ascending. */
  readonly roles: readonly string[];
  /** Effective permissions: direct and through roles, ascending. */
  readonly permissions: readonly string[];
  /** Derived: false once the key is switched off, expired or exhausted. */
  readonly enabled: boolean;
  readonly name?: string;
  /** Deprecated: the `externalId` of the identity. */
  readonly ownerId?: string;
  readonly meta?: Metadata;
  readonly updatedAt?: EpochMs;
  readonly expires?: EpochMs;
  /** As of now: a refill that has fallen due shows. Absent when unlimited. */
  readonly remaining?: number;
  readonly refill?: {
    readonly interval: "daily" | "monthly";
    readonly amount: number;
    readonly refillDay?: number;
    /** Up to when refills are settled: the last refill, or the creation or last setting of the counter. */
    readonly lastRefillAt: EpochMs;
  };
  readonly ratelimit?: {
    readonly async: boolean;
    readonly type?: RateLimitType;
    readonly limit: number;
    readonly duration: SpanMs;
  };
  readonly environment?: string;
  readonly identity?: NonNullable<VerifiedKey["identity"]>;
  /** The secret of a recoverable key, where decryption was asked for. */
  readonly plaintext?: string;
}

/** Writes a key in its listed form, as of `now`. Shows a due refill without writing it. */
export function toListedKey(
  { key, usage, identity, roles, permissions }: LoadedKey,
  now: EpochMs,
): ListedKey {
  const settled = settleRefill(usage, dueRefill(key.refill, now));
  const { remaining } = settled;
  const limit = key.ratelimits.find(({ name }) => name === DEFAULT_LIMIT);
  return {
    id: key.id,
    start: key.start,
    apiId: key.apiId,
    workspaceId: key.workspaceId,
    createdAt: key.createdAt,
    roles,
    permissions,
    enabled:
      keyState({ switchedOn: key.switchedOn, expiresAt: key.expiresAt, remaining }, now) ===
      "enabled",
    ...(key.name !== null && { name: key.name }),
    ...(key.meta !== null && { meta: key.meta }),
    ...(key.updatedAt !== null && { updatedAt: key.updatedAt }),
    ...(key.expiresAt !== null && { expires: key.expiresAt }),
    ...(remaining !== null && { remaining }),
    ...(key.refill !== null && { refill: { ...key.refill, lastRefillAt: settled.refilledAt } }),
    ...(limit !== undefined && {
      ratelimit: {
        async: limit.async,
        ...(limit.type !== null && { type: limit.type }),
        limit: limit.limit,
        duration: limit.durationMs,
      },
    }),
    ...(key.environment !== null && { environment: key.environment }),
    ...(identity !== null && { ownerId: identity.externalId, identity: publicIdentity(identity) }),
  };
}
