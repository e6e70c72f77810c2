import type { Metadata } from "./metadata.js";
import type { RateLimit } from "./rate-limit.js";
import type { EpochMs } from "./time.js";

/** The end user behind keys. `externalId` is unique in a workspace. */
export interface IdentityRecord {
  readonly id: string;
  readonly workspaceId: string;
  readonly externalId: string;
  readonly meta: Metadata;
  /** Limits shared by all keys of the identity; no two of one name. */
  readonly ratelimits: readonly RateLimit[];
  readonly createdAt: EpochMs;
  /** Rises by one with every change of a field above. */
  readonly version: number;
}

const NO_META: Metadata = Object.freeze({});

/** An identity without metadata and limits, as it is made on demand for a key. */
export function newIdentity(
  id: string,
  workspaceId: string,
  externalId: string,
  createdAt: EpochMs,
): IdentityRecord {
  return { id, workspaceId, externalId, meta: NO_META, ratelimits: [], createdAt, version: 1 };
}
