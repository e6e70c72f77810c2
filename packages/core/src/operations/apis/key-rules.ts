import { z } from "zod";
import { corruptRecord, type LatchkeyError, unmet } from "../../errors.js";
import type { JsonValue } from "../../lib/json.js";
import { withoutNull } from "../../lib/without-null.js";
import type { ApiRecord } from "../../records/api.js";
import { fromWireKeyLimit } from "../../records/key.js";
import type { Duration } from "../../rules/duration.js";
import { type AboveCeiling, aboveCeiling, type KeyCeilings } from "../../rules/keys/ceilings.js";
import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../rules/latchkey-types.js";
import { DEFAULT_LIMIT } from "../../rules/rate-limit.js";
import { BYTE_LENGTH } from "../../secrets/format.js";
import { environment, grantNames, optional, prefix, wholeNumber } from "../input.js";
import {
  type KeyLimitInput,
  keyRatelimit,
  type NamedKeyLimitInput,
  namedKeyRatelimits,
} from "../limit-input.js";
import { duration } from "../time-input.js";
import { type RefillInput, refill } from "../uses-and-refill.js";

/** Defaults for new keys of an API. Fields without a value are absent. */
export type ApiDefaults<Span = Duration, Types extends LatchkeyTypes = DefaultTypes> = {
  /** Prefix of the secret, before a `_`. */
  readonly prefix?: string | undefined;
  /** Random bytes of the secret: 16 to 255. */
  readonly byteLength?: number | undefined;
  /** Lifetime from the creation or `startsAt`: ms, or a text such as `"90d"`. */
  readonly expiresIn?: Span | undefined;
  /** Uses: whole and >= 1. Not for keys that take uses from their identity. */
  readonly remaining?: number | undefined;
  /** How uses are restored; needs `remaining`. */
  readonly refill?: RefillInput | undefined;
  /** The limit named `default`. */
  readonly ratelimit?: KeyLimitInput | undefined;
  /** Named limits, at most 50. */
  readonly ratelimits?: readonly NamedKeyLimitInput<Types>[] | undefined;
  /** Names of permissions, which must exist when a key is created. */
  readonly permissions?: readonly PermissionName<Types>[] | undefined;
  /** Your own label. */
  readonly environment?: string | undefined;
};

export const apiDefaults = z
  .strictObject(
    optional({
      prefix,
      byteLength: wholeNumber(BYTE_LENGTH.min, BYTE_LENGTH.max),
      expiresIn: duration,
      remaining: wholeNumber(1),
      refill,
      ratelimit: keyRatelimit,
      ratelimits: namedKeyRatelimits,
      permissions: grantNames,
      environment,
    }),
  )
  .refine((defaults) => defaults.refill === undefined || defaults.remaining !== undefined, {
    path: ["refill"],
    error: "needs remaining",
  });

export const apiCeilings = z.strictObject(
  optional({
    maxExpiresIn: duration,
    maxRemaining: wholeNumber(1),
    permissions: grantNames,
    maxRatelimit: z.strictObject({ limit: wholeNumber(1), duration }),
    maxKeysPerIdentity: wholeNumber(1, 10_000),
  }),
);

/** Defaults as stored. */
export type KeyDefaults = z.output<typeof apiDefaults>;

export interface KeyRules {
  readonly defaults: KeyDefaults | null;
  readonly ceilings: KeyCeilings | null;
}

const NO_RULES: KeyRules = Object.freeze({ defaults: null, ceilings: null });

const known = new WeakMap<ApiRecord, KeyRules>();

/** The settings of an API for its keys. @throws LatchkeyError `STORE_CORRUPT` if it is damaged. */
export function keyRulesOf(api: ApiRecord): KeyRules {
  if (api.defaults === null && api.ceilings === null) return NO_RULES;
  let rules = known.get(api);
  if (rules === undefined) {
    const defaults = apiDefaults.nullable().safeParse(api.defaults);
    const ceilings = apiCeilings.nullable().safeParse(api.ceilings);
    if (!defaults.success || !ceilings.success) throw corruptRecord(`api ${api.id}`);
    rules = { defaults: defaults.data, ceilings: ceilings.data };
    known.set(api, rules);
  }
  return rules;
}

/** Rules, such as an API's defaults or what a portal session allows, in the form that records store; null for none. */
export function storedRules(
  rules: object | null | undefined,
): { readonly [field: string]: JsonValue } | null {
  if (rules === null || rules === undefined) return null;
  const written = JSON.parse(JSON.stringify(rules)) as { readonly [field: string]: JsonValue };
  return Object.keys(written).length === 0 ? null : written;
}

/** @throws LatchkeyError `PRECONDITION_FAILED` for a default that is above its ceiling. */
export function refuseDefaultsAbove(api: ApiRecord): void {
  const { defaults, ceilings } = keyRulesOf(api);
  if (defaults === null || ceilings === null) return;
  const { expiresIn, remaining, refill, permissions, ratelimits } = defaults;
  const byDefault = ratelimits?.find(({ name }) => name === DEFAULT_LIMIT);
  const limit = defaults.ratelimit ?? byDefault;
  const ratelimit = limit && fromWireKeyLimit(limit);
  const above = aboveCeiling(
    ceilings,
    withoutNull({ expires: expiresIn, remaining, refill, permissions, ratelimit }),
    0,
  );
  if (above === null) return;
  const field = above.field === "expires" ? "expiresIn" : above.field;
  throw aboveCeilingError({ ...above, field: `defaults.${field}` });
}

export function aboveCeilingError({ field, limit }: AboveCeiling): LatchkeyError {
  const bound = typeof limit === "number" ? `${limit}` : limit.join(", ");
  return unmet("above-ceiling", `"${field}" is above the ceiling of the API: ${bound}`, {
    field,
    limit,
  });
}
