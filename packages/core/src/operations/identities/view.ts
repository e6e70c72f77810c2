import type { IdentityRecord } from "../../records/identity.js";
import type { DefaultTypes, LatchkeyTypes, LimitName } from "../../rules/latchkey-types.js";
import { toWireLimits, type WireRateLimit } from "../../rules/rate-limit.js";
import { dueRefill } from "../../rules/refill.js";
import { applyRefill, type Usage } from "../../store/counters.js";
import type { EpochMs } from "../../time.js";
import { type RefillView, toRefillView } from "../refill-view.js";

/** An identity as it is read by itself. Fields without a value are absent. */
export interface IdentityView<Types extends LatchkeyTypes = DefaultTypes> {
  /** `id_…` */
  readonly id: string;
  /** Your own id of the user. */
  readonly externalId: string;
  /** Its metadata; `{}` where it has none. */
  readonly meta: Types["identityMeta"];
  /** Limits that its keys share. */
  readonly ratelimits: readonly WireRateLimit<LimitName<Types>>[];
  /** Uses left to the keys that take theirs from the identity, as of now, whole and >= 0; absent when unlimited. */
  readonly remaining?: number;
  /** How the shared uses are restored; absent: not at all. */
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
