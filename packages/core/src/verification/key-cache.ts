import type { ChargePlan, LimitCharge } from "../store/charge.js";
import type { EpochMs, SpanMs } from "../time.js";
import { autoAppliedLimits } from "./limits.js";
import type { LoadedKey } from "./loaded-key.js";
import { planCharge } from "./plan.js";
import { PLAIN_QUESTION } from "./question.js";

/** Verifications of one key in one hour, as the statistics count them. */
export interface KeyTally {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly apiId: string;
  readonly identityId: string | null;
  readonly hourAt: EpochMs;
  /** The tally goes on as long as this is the generation of the buffer that it is in. */
  readonly generation: object;
  /** Verdicts `VALID`, apart from the others: on the hot path one object is written to, and no more. */
  valid: number;
  /** Ms from the start of the hour to the latest of them. Small, which an instant is not: numbers beyond 2^31 are objects. */
  usedAfterMs: SpanMs;
  /** The other verdicts, in the order of `COUNTED_CODES`; null while there are none. */
  refusals: number[] | null;
}

/** A loaded key with what its verifications need again and again, worked out once. */
export interface CachedKey extends LoadedKey {
  /** The limits that apply by themselves. */
  readonly autoApplied: readonly LimitCharge[];
  /** The plan of the plain question. A store keeps with it what it makes of it. */
  readonly plainPlan: ChargePlan;
  /** Where its verifications are counted; null before the first. */
  tally: KeyTally | null;
}

/** Makes a loaded key ready for many verifications. */
export function cachedKey(loaded: LoadedKey): CachedKey {
  const autoApplied = autoAppliedLimits(loaded);
  // Field by field, what every verification reads first, so that it lies together: objects built with a spread are slower to read.
  return {
    key: loaded.key,
    identity: loaded.identity,
    workspace: loaded.workspace,
    api: loaded.api,
    autoApplied,
    plainPlan: planCharge(loaded, PLAIN_QUESTION.cost, autoApplied),
    tally: null,
    roles: loaded.roles,
    permissions: loaded.permissions,
    revision: loaded.revision,
    usage: loaded.usage,
    identityUsage: loaded.identityUsage,
    direct: loaded.direct,
    lastUsedAt: loaded.lastUsedAt,
    handle: loaded.handle,
    identityHandle: loaded.identityHandle,
  };
}
