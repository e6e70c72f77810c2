import type { PermissionQuery } from "../rules/permission.js";
import type { RateLimit } from "../rules/rate-limit.js";
import type { SpanMs } from "../time.js";

/** What a verification asks, besides whether the key is alive. */
export interface VerifyQuestion {
  /** The API that the key must belong to, or null for any. */
  readonly apiId: string | null;
  /** The label that the key must have. Absent, not undefined, for any, because requests are compared by digest. */
  readonly environment?: string;
  /** The caller's address, as `canonicalAddress` returns it, or null if unknown. */
  readonly address: string | null;
  readonly permissions: PermissionQuery | null;
  /** Uses to take: a whole number >= 0. */
  readonly cost: number;
  /** Limits named by the request; names are unique. */
  readonly limits: readonly LimitRequest[];
  /** For a reservation: how long the units it takes are held. Otherwise absent, not undefined, because requests are compared by digest. */
  readonly ttl?: SpanMs;
}

export interface LimitRequest {
  readonly name: string;
  readonly cost: number;
  /** Makes it a limit of the key for this request; null takes the configured limit. */
  readonly adHoc: Omit<RateLimit, "name"> | null;
  /** Whether a configured limit of this name takes precedence over `adHoc`, and a name with neither is ignored. */
  readonly isOptional: boolean;
}

/** Units of a limit, by its name. */
export interface LimitCost<Name extends string = string> {
  /** Name of the limit. */
  readonly name: Name;
  /** Units: whole and >= 0. */
  readonly cost: number;
}

/** Whether two requests name the same limits, in the same order and at the same cost. */
export function isSameLimits(
  some: readonly LimitRequest[],
  others: readonly LimitRequest[],
): boolean {
  if (some === others) return true;
  if (some.length !== others.length) return false;
  for (let index = 0; index < some.length; index += 1)
    if (!isSameLimit(some[index] as LimitRequest, others[index] as LimitRequest)) return false;
  return true;
}

function isSameLimit(one: LimitRequest, other: LimitRequest): boolean {
  return (
    one.name === other.name &&
    one.cost === other.cost &&
    one.isOptional === other.isOptional &&
    one.adHoc?.limit === other.adHoc?.limit &&
    one.adHoc?.duration === other.adHoc?.duration &&
    one.adHoc?.algorithm === other.adHoc?.algorithm &&
    one.adHoc?.burst === other.adHoc?.burst &&
    one.adHoc?.shadow === other.adHoc?.shadow
  );
}

/** By far the most common question: is this key valid, for one use? */
export const PLAIN_QUESTION: VerifyQuestion = Object.freeze({
  apiId: null,
  address: null,
  permissions: null,
  cost: 1,
  limits: Object.freeze([]),
});
