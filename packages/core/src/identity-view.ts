import type { IdentityRecord } from "./identity.js";
import type { Metadata } from "./metadata.js";
import { toWireLimits, type WireRateLimit } from "./rate-limit.js";

/** An identity as it is read by itself. `duration` in ms. */
export interface FullIdentity {
  readonly id: string;
  readonly externalId: string;
  readonly meta: Metadata;
  readonly ratelimits: readonly WireRateLimit[];
}

/** Writes an identity with its metadata and limits. */
export function toFullIdentity({ id, externalId, meta, ratelimits }: IdentityRecord): FullIdentity {
  return { id, externalId, meta, ratelimits: toWireLimits(ratelimits) };
}
