import type { IdentityRecord } from "../../records/identity.js";
import type { Metadata } from "../../rules/metadata.js";
import { toWireLimits, type WireRateLimit } from "../../rules/rate-limit.js";
import { dueRefill } from "../../rules/refill.js";
import { applyRefill, type Usage } from "../../store/counters.js";
import type { EpochMs } from "../../time.js";
import { type RefillView, toRefillView } from "../refill-view.js";

/** An identity as it is read by itself. `duration` in ms. Fields without a value are absent. */
export interface IdentityView {
  readonly id: string;
  readonly externalId: string;
  readonly meta: Metadata;
  readonly ratelimits: readonly WireRateLimit[];
  /** Uses left to the keys that take theirs from the identity, as of now; absent when unlimited. */
  readonly remaining?: number;
  readonly refill?: RefillView;
}

/** An identity with its metadata, limits and uses, as of `now`. */
export function toIdentityView(identity: IdentityRecord, usage: Usage, now: EpochMs): IdentityView {
  const { id, externalId, meta, ratelimits, refill } = identity;
  const { remaining, lastRefillAt } = applyRefill(usage, dueRefill(refill, now));
  return {
    id,
    externalId,
    meta,
    ratelimits: toWireLimits(ratelimits),
    ...(remaining !== null && { remaining }),
    ...(refill !== null && { refill: toRefillView(refill, lastRefillAt) }),
  };
}
