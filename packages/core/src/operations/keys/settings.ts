import { z } from "zod";
import { isObject } from "../../lib/own-fields.js";
import { MAX_HELD } from "../../records/grants.js";
import { isAsyncByType, type KeyLabels, labelsOf } from "../../records/key.js";
import { type Duration, durationMs, LONGEST_DURATION } from "../../rules/duration.js";
import { SHORTEST_IDLE_MS, startsTooLate } from "../../rules/keys/lifecycle.js";
import { MAX_TAGS, TAG_PATTERN } from "../../rules/keys/tags.js";
import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../rules/latchkey-types.js";
import { DEFAULT_LIMIT } from "../../rules/rate-limit.js";
import {
  evenWithIssues,
  externalId,
  flag,
  fullList,
  grantName,
  grantNames,
  type IssueSink,
  id,
  ipWhitelist,
  list,
  metadata,
  nullable,
  optional,
  refuseField,
  text,
  textLike,
  usesFrom,
  wholeNumber,
} from "../input.js";
import {
  type KeyLimitInput,
  keyRatelimit,
  type NamedKeyLimitInput,
  namedKeyRatelimits,
} from "../limit-input.js";
import { instant, spanOf } from "../time-input.js";
import { type RefillInput, refill } from "../uses-and-refill.js";
import { type GrantInput, permissionList, roleList } from "./grant-input.js";

/** Labels of a key, as input. */
export type GivenLabels<Value, None = never> = {
  readonly [Label in keyof KeyLabels]?:
    | Value
    | (Label extends NoneField ? None : never)
    | undefined;
};

/** Settings of a new or imported key. */
export type KeySettingsInput<
  Types extends LatchkeyTypes = DefaultTypes,
  None = never,
> = GivenLabels<string, None> & {
  /** Id of its API. */
  readonly apiId: string;
  /** Deprecated name of `externalId`, which wins. */
  readonly ownerId?: string | undefined;
  /** Your own id of its owner: 1 to 255 characters. A missing identity is created. */
  readonly externalId?: string | undefined;
  /** A JSON object of at most 16 KiB and 16 levels. Checked by `meta` of createLatchkey. */
  readonly meta?: Types["metaInput"] | undefined;
  /** Labels to find it by, shown in its verdicts: at most 32, of 1 to 64 of `A-Z a-z 0-9 _ . : -`. */
  readonly tags?: readonly string[] | undefined;
  /** Addresses and CIDR ranges that it may be used from, at most 1,000. The list of its API applies too. Default: any. */
  readonly ipWhitelist?: readonly string[] | undefined;
  /** Names of existing roles: at most 100. */
  readonly roles?: readonly string[] | undefined;
  /** Names of existing permissions, beside those of its roles: at most 1,000. */
  readonly permissions?: readonly PermissionName<Types>[] | None | undefined;
  /** When it expires: Unix epoch ms or a `Date`, later than now. Default: never. */
  readonly expires?: number | Date | None | undefined;
  /** When it starts: Unix epoch ms or a `Date`, earlier than `expires`. Default: now. */
  readonly startsAt?: number | Date | undefined;
  /**
   * It expires after this long without a valid verification: a day or more, in ms or as a text such as `"90d"`. Before the first one, the
   * time counts from its creation or start. Default: never.
   */
  readonly expiresWhenUnused?: Duration | undefined;
  /** Its uses: whole and >= 1. Default: unlimited. */
  readonly remaining?: number | None | undefined;
  /** How its uses are restored; needs `remaining`. */
  readonly refill?: RefillInput | None | undefined;
  /** The limit named `default`, which applies to every verification. */
  readonly ratelimit?: KeyLimitInput | None | undefined;
  /** Named limits, at most 50. */
  readonly ratelimits?: readonly NamedKeyLimitInput<Types>[] | None | undefined;
  /** Whose uses it takes: its own (default), or those that the keys of its identity share. */
  readonly usesFrom?: "key" | "identity" | undefined;
  /** Whether it is enabled. Default: true. */
  readonly enabled?: boolean | undefined;
  /** Whether its secret is stored encrypted, so that it can be shown again. Needs a vault. Default: false. */
  readonly recoverable?: boolean | undefined;
};

/** Fields for which an API may have a default, which null overrides. */
export const NONE_FIELDS = [
  "expires",
  "remaining",
  "refill",
  "ratelimit",
  "ratelimits",
  "permissions",
  "environment",
] as const;

export type NoneField = (typeof NONE_FIELDS)[number];

/** Fields of a new key with a new secret. Omitted fields get the `defaults` of the API. */
export type NewKeyInput<
  Types extends LatchkeyTypes = DefaultTypes,
  None = never,
> = KeySettingsInput<Types, None> & {
  /** Prefix of the secret, before a `_`, so that people and scanners recognise it: at most 16 of `A-Z a-z 0-9 _ -`; none if empty. */
  readonly prefix?: string | None | undefined;
  /** Random bytes of the secret: 16 to 255. Default: 16. */
  readonly byteLength?: number | undefined;
  /** Whether missing `permissions` and `roles` (without permissions) are created in the same write. Default: false. */
  readonly create?: boolean | undefined;
};

/** Input of createKey. Null avoids a default of the API; it is refused if the API has no `defaults`. */
export type CreateKeyInput<Types extends LatchkeyTypes = DefaultTypes> = NewKeyInput<Types, null>;

/** Input of updateKey: omitted fields stay, null clears. */
export type UpdateKeyInput<Types extends LatchkeyTypes = DefaultTypes> = GivenLabels<
  string | null
> & {
  /** Id of the key. */
  readonly keyId: string;
  /** Deprecated name of `externalId`, which wins. */
  readonly ownerId?: string | null | undefined;
  /** Your own id of its owner: 1 to 255 characters; null: none. A missing identity is created. */
  readonly externalId?: string | null | undefined;
  /** The whole metadata: a JSON object of at most 16 KiB and 16 levels. Checked by `meta` of createLatchkey. */
  readonly meta?: Types["metaInput"] | null | undefined;
  /** All its tags: at most 32, of 1 to 64 of `A-Z a-z 0-9 _ . : -`; null or an empty list clears them. */
  readonly tags?: readonly string[] | null | undefined;
  /** All addresses and CIDR ranges, at most 1,000; null or an empty list: any that its API allows. */
  readonly ipWhitelist?: readonly string[] | null | undefined;
  /** When it expires: Unix epoch ms or a `Date`, later than now; null: never. A rotated key cannot get a later expiry. */
  readonly expires?: number | Date | null | undefined;
  /** When it starts: Unix epoch ms or a `Date`, earlier than its expiry; null: now. */
  readonly startsAt?: number | Date | null | undefined;
  /** It expires after this long without a valid verification: a day or more, in ms or as a text such as `"90d"`; null: never. */
  readonly expiresWhenUnused?: Duration | null | undefined;
  /** Uses left: whole and >= 0; null for unlimited, which also removes the refill. */
  readonly remaining?: number | null | undefined;
  /** How uses are restored; null for not at all. */
  readonly refill?: RefillInput | null | undefined;
  /** The limit named `default`; null removes it. The other limits stay. */
  readonly ratelimit?: KeyLimitInput | null | undefined;
  /** All limits, at most 50; null or an empty list removes all. A limit that keeps its name and duration keeps its count. */
  readonly ratelimits?: readonly NamedKeyLimitInput<Types>[] | null | undefined;
  /** Whose uses it takes: its own, or those that the keys of its identity share. */
  readonly usesFrom?: "key" | "identity" | undefined;
  /** Whether it is enabled. `true` is refused for a key without uses left. */
  readonly enabled?: boolean | undefined;
  /** All its roles: at most 100, by name or id; an empty list clears them. */
  readonly roles?: readonly GrantInput[] | undefined;
  /**
   * All its direct permissions: at most 1,000, by name or id; an empty list clears them. A plain name that it has through a role is
   * ignored, so that you can pass what getKey shows; `{ name }` is not.
   */
  readonly permissions?: readonly GrantInput<PermissionName<Types>>[] | undefined;
};

export const keyTags = list(
  textLike(TAG_PATTERN, "must be 1 to 64 characters of A-Z a-z 0-9 _ . : -"),
  MAX_TAGS,
  "tags",
).transform((tags): readonly string[] => [...new Set(tags)]);

const idleSpan = spanOf(
  SHORTEST_IDLE_MS,
  LONGEST_DURATION,
  'must be at least a day: a whole number of ms from 86400000 to 2^52, or a text such as "24h" or "90d"',
);

/** Fields that a key may lack: optional at its creation, and an update may clear them. In three parts, for the order of issues. */
const description = {
  ...labelsOf((_, { length }) => text(...length)),
  ownerId: externalId,
  externalId,
  meta: metadata,
  tags: keyTags,
  ipWhitelist,
};
const times = { expires: instant(1), startsAt: instant(1), expiresWhenUnused: idleSpan };
const refillAndLimits = { refill, ratelimit: keyRatelimit, ratelimits: namedKeyRatelimits };

/** Fields of a key at its creation, with a new or an imported secret. */
export const keySettingsFields = {
  apiId: id,
  ...optional({
    ...description,
    roles: list(grantName, MAX_HELD.roles, "names"),
    permissions: grantNames,
    ...times,
    remaining: wholeNumber(1),
    ...refillAndLimits,
  }),
  usesFrom: usesFrom.default("key"),
  enabled: flag.default(true),
  recoverable: flag.default(false),
};

const keySettingsSchema = z.strictObject(keySettingsFields);

/** {@link keySettingsFields}, checked. */
export type KeySettings = z.output<typeof keySettingsSchema>;

export const STARTS_TOO_LATE = "must be earlier than expires";

/** Rules that span several fields of {@link keySettingsFields}. */
export function addSettingsIssues(settings: unknown, sink: IssueSink): void {
  const given = settings as Partial<Record<keyof KeySettings, unknown>>;
  const refuse = (path: string, message: string) => refuseField(sink, path, message);
  const takesFromIdentity = given.usesFrom === "identity";
  if (takesFromIdentity && given.externalId === undefined && given.ownerId === undefined)
    refuse("usesFrom", 'needs externalId if it is "identity"');
  for (const field of ["remaining", "refill"] as const)
    if (takesFromIdentity && given[field] !== undefined)
      refuse(field, 'must not be given if usesFrom is "identity": set it on the identity');
  const isUnlimited = given.remaining === undefined || given.remaining === null;
  if (!takesFromIdentity && given.refill !== undefined && given.refill !== null && isUnlimited)
    refuse("refill", "needs remaining");
  const { startsAt, expires } = given;
  if (typeof startsAt === "number" && typeof expires === "number")
    if (startsTooLate(startsAt, expires)) refuse("startsAt", STARTS_TOO_LATE);
  addSecondDefaultIssue(settings, sink);
}

/** `ratelimit` is the limit named `default`. `ratelimits` may hold the same one, as a key that was read does, but not a different one. */
function addSecondDefaultIssue(settings: unknown, sink: IssueSink): void {
  const { ratelimit, ratelimits } = settings as Partial<Record<keyof KeySettings, unknown>>;
  if (ratelimit === undefined || !Array.isArray(ratelimits)) return;
  const named: unknown = ratelimits.find(
    (limit) => isObject(limit) && limit.name === DEFAULT_LIMIT,
  );
  if (isObject(named) && !(isObject(ratelimit) && isSameLimit(named, ratelimit)))
    refuseField(
      sink,
      "ratelimits",
      `must not contain a limit named ${DEFAULT_LIMIT} other than ratelimit`,
    );
}

type Fields = Readonly<Record<string, unknown>>;

function isSameLimit(one: Fields, other: Fields): boolean {
  const isAsync = ({ async, type }: Fields) => async ?? isAsyncByType(type);
  return (
    ["limit", "algorithm", "burst", "shadow", "type"].every((name) => one[name] === other[name]) &&
    durationMs(one.duration) === durationMs(other.duration) &&
    isAsync(one) === isAsync(other)
  );
}

const updateFields = optional({
  ...nullable({ ...description, ...times, remaining: wholeNumber(0), ...refillAndLimits }),
  usesFrom,
  enabled: flag,
  roles: roleList,
  permissions: permissionList,
});

export const updateKeyInput = z
  .strictObject({ keyId: id, ...updateFields })
  .superRefine(addSecondDefaultIssue, evenWithIssues);

/** Most keys that one call changes, so that its write, one step on every store, stays short. */
const MAX_UPDATED = 100;

export const updateKeysInput = z
  .strictObject({ keyIds: fullList(id, MAX_UPDATED, "ids"), ...updateFields })
  .superRefine(addSecondDefaultIssue, evenWithIssues);

/** New settings of a key. Undefined leaves a field as it is, null clears it. */
export type KeyUpdate = Omit<z.output<typeof updateKeyInput>, "keyId">;
