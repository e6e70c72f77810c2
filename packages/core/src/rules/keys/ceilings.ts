import type { EpochMs, SpanMs } from "../../time.js";
import type { Duration } from "../duration.js";
import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../latchkey-types.js";
import { HeldPermissions } from "../permission.js";
import { DEFAULT_LIMIT, type RateLimit } from "../rate-limit.js";
import type { UsesOwner } from "./spend.js";

/** Upper bounds for the keys of an API. Absent: no bound. Durations in ms, or as texts such as `"90d"`. */
export type ApiCeilings<Span = Duration, Types extends LatchkeyTypes = DefaultTypes> = {
  /** Longest time until a key expires. Refuses keys without `expires`. */
  readonly maxExpiresIn?: Span | undefined;
  /** Most uses, also after a refill: whole and >= 1. Refuses keys without `remaining` of their own. */
  readonly maxRemaining?: number | undefined;
  /** Names and wildcards: the only permissions that a key can be given directly, or has through its roles. */
  readonly permissions?: readonly PermissionName<Types>[] | undefined;
  /** Most units that the limit named `default` may admit in `duration`. Refuses keys without that limit. */
  readonly maxRatelimit?:
    | {
        /** Units, whole and >= 1. */
        readonly limit: number;
        /** In ms, or as a text such as `"1m"`. */
        readonly duration: Span;
      }
    | undefined;
  /** Most keys of one identity in the API: 1 to 10,000. Disabled keys count, rotated ones do not. */
  readonly maxKeysPerIdentity?: number | undefined;
};

/** Ceilings as they are stored. */
export type KeyCeilings = ApiCeilings<SpanMs>;

/** What a call gives a key. A call leaves an absent field unchanged, so no ceiling applies to it. */
export interface GivenToKey {
  readonly expires?: EpochMs | null;
  readonly remaining?: number | null;
  readonly usesFrom?: UsesOwner;
  readonly refill?: { readonly amount: number; readonly carryOver?: number } | null;
  /** Names that the key does not have yet. */
  readonly permissions?: readonly string[];
  /** The limit named `default`, or null for none. */
  readonly ratelimit?: RateLimit | null;
}

export interface AboveCeiling {
  readonly field: string;
  readonly limit: number | readonly string[];
}

/** What a change of a key's limits gives the key: its new `default` limit, or nothing if that stays the same. */
export function givenByLimits(
  before: readonly RateLimit[],
  after: readonly RateLimit[],
): Pick<GivenToKey, "ratelimit"> {
  const [was, ratelimit] = [before, after].map(
    (limits) => limits.find(({ name }) => name === DEFAULT_LIMIT) ?? null,
  ) as [RateLimit | null, RateLimit | null];
  return JSON.stringify(was) === JSON.stringify(ratelimit) ? {} : { ratelimit };
}

/** The first given field that is above its ceiling, or null. A value equal to the ceiling is allowed. */
export function aboveCeiling(
  ceilings: KeyCeilings,
  given: GivenToKey,
  now: EpochMs,
): AboveCeiling | null {
  const { maxExpiresIn, maxRemaining, permissions, maxRatelimit } = ceilings;
  const { expires, remaining, usesFrom, refill, ratelimit } = given;
  if (maxExpiresIn !== undefined && expires !== undefined)
    if (expires === null || expires - now > maxExpiresIn)
      return { field: "expires", limit: maxExpiresIn };
  if (maxRemaining !== undefined) {
    // No ceiling bounds the uses that the keys of an identity share.
    if (usesFrom === "identity") return { field: "usesFrom", limit: maxRemaining };
    if (remaining !== undefined && (remaining === null || remaining > maxRemaining))
      return { field: "remaining", limit: maxRemaining };
    if (refill && refill.amount + (refill.carryOver ?? 0) > maxRemaining)
      return { field: "refill", limit: maxRemaining };
  }
  if (permissions !== undefined && given.permissions !== undefined) {
    const covered = new HeldPermissions(permissions);
    if (!given.permissions.every((name) => covered.grant(name)))
      return { field: "permissions", limit: permissions };
  }
  if (maxRatelimit !== undefined && ratelimit !== undefined)
    if (ratelimit === null || mostAdmitted(ratelimit, maxRatelimit.duration) > maxRatelimit.limit)
      return { field: "ratelimit", limit: maxRatelimit.limit };
  return null;
}

/**
 * The permissions that a key has through its roles: what both the roles and the ceiling grant, as names and wildcards. So a role that gets
 * more permissions later does not lift its keys above the ceiling.
 *
 * @param granted - Names of the permissions of the roles.
 * @param ceiling - Names and wildcards.
 */
export function belowCeiling(
  granted: readonly string[],
  ceiling: readonly string[],
): readonly string[] {
  const [byRoles, allowed] = [new HeldPermissions(granted), new HeldPermissions(ceiling)];
  return [
    ...granted.filter((name) => allowed.grant(name)),
    ...ceiling.filter((name) => byRoles.grant(name)),
  ];
}

/** Units that a limit admits in a span that starts with a window. Infinite for shadow and concurrent limits: they bound nothing. */
function mostAdmitted({ algorithm, limit, duration, burst, shadow }: RateLimit, span: SpanMs) {
  if (shadow || algorithm === "concurrent") return Number.POSITIVE_INFINITY;
  const windows = Math.ceil(span / duration) * limit;
  return algorithm === "token-bucket" ? Math.max(burst, windows) : windows;
}
