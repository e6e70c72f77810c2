import { z } from "zod";
import type { ListScope } from "../../lib/cursor.js";
import { KEY_LABELS } from "../../records/key.js";
import {
  filtersIn,
  type GivenFilters,
  KEY_ORDERS,
  type KeyFilter,
  type KeyOrder,
  ORDERS,
} from "../../rules/keys/listing.js";
import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../rules/latchkey-types.js";
import { secretShape } from "../../secrets/format.js";
import { shortDigest } from "../../secrets/hash.js";
import { MAX_START_LENGTH } from "../../secrets/shown-start.js";
import type { EpochMs } from "../../time.js";
import {
  environment,
  evenWithIssues,
  externalId,
  flag,
  grantName,
  id,
  oneOf,
  optional,
  pageFields,
  refuseField,
  text,
} from "../input.js";
import { instant } from "../time-input.js";
import { keyTags } from "./settings.js";

/** Filters of keys: all must match. Times are Unix epoch ms or a `Date`. */
export type KeyFilters<Types extends LatchkeyTypes = DefaultTypes> = {
  /** Keys whose `enabled`, as lists show it, is this. */
  readonly enabled?: boolean | undefined;
  /** Keys that expire before this time. A key without `expires` does not match. */
  readonly expiresBefore?: number | Date | undefined;
  /** Keys that expire at this time or later. A key without `expires` does not match. */
  readonly expiresAfter?: number | Date | undefined;
  /** Keys last used before this time, or never. */
  readonly usedBefore?: number | Date | undefined;
  /** Keys last used at this time or later. */
  readonly usedAfter?: number | Date | undefined;
  /** Keys created before this time. */
  readonly createdBefore?: number | Date | undefined;
  /** Keys created at this time or later. */
  readonly createdAfter?: number | Date | undefined;
  /** Keys whose name contains this, 1 to 256 characters, ignoring case. */
  readonly nameContains?: string | undefined;
  /**
   * Keys whose secret may begin with this: 1 to 32 characters. If it is longer than the `start` of a key, only that length is compared. A
   * mask that a log puts in place of the rest, from `…`, `...` or `*` on, is ignored.
   */
  readonly start?: string | undefined;
  /** Keys with this permission, directly, through a role or a wildcard. */
  readonly permission?: PermissionName<Types> | undefined;
  /** Keys that have the role of this name. */
  readonly role?: string | undefined;
  /** Keys whose `environment` is exactly this. */
  readonly environment?: string | undefined;
  /** Keys that have all of these tags: at most 32. */
  readonly tags?: readonly string[] | undefined;
};

/** The mask that a log puts in place of the rest of a secret. */
const MASKED = /(?<=.)(?:…|\.{3}|\*).*$/s;

const keyFilterFields = {
  enabled: flag,
  expiresBefore: instant(0),
  expiresAfter: instant(0),
  usedBefore: instant(0),
  usedAfter: instant(0),
  createdBefore: instant(0),
  createdAfter: instant(0),
  nameContains: text(1, KEY_LABELS.name.length[1]),
  start: text(1, MAX_START_LENGTH)
    .refine((start) => secretShape(start) !== "intact", {
      error: "must be the first characters of a secret, not the whole secret",
    })
    .transform((start) => start.replace(MASKED, "")),
  permission: grantName,
  role: grantName,
  environment,
  // Sorted: the same tags are the same question.
  tags: keyTags.transform((tags): readonly string[] => [...tags].sort()),
} satisfies { readonly [Name in keyof KeyFilter]: unknown };

export const listKeysInput = z
  .strictObject({
    apiId: id.optional(),
    ...pageFields,
    ...optional({
      ownerId: externalId,
      externalId,
      identityId: id,
      ...keyFilterFields,
      orderBy: z.enum(KEY_ORDERS, { error: 'must be "createdAt" or "expires" or "lastUsedAt"' }),
      order: oneOf(ORDERS),
      decrypt: flag.nullable(),
    }),
  })
  .superRefine(({ identityId, externalId, ownerId }, sink) => {
    if (identityId !== undefined && (externalId ?? ownerId) !== undefined)
      refuseField(sink, "identityId", "must not be given with externalId");
  }, evenWithIssues);

export interface KeyQuestion {
  readonly apiId: string | undefined;
  readonly externalId: string | undefined;
  readonly identityId: string | undefined;
  readonly filters: GivenFilters;
  readonly orderBy: KeyOrder;
  readonly descending: boolean;
  /** Keys created before this time are not wanted; null: no bound. */
  readonly createdAfter: EpochMs | null;
  /** Whether it has only an API, or an API and an `externalId`: then the result has the number of keys. */
  readonly hasTotal: boolean;
  /** Whether it has filters or an order: then the result has the number of keys read. */
  readonly hasScanned: boolean;
}

export function questionOf(input: z.output<typeof listKeysInput>): KeyQuestion {
  const { apiId, identityId, orderBy, order, createdAfter = null } = input;
  const filters = filtersIn(input);
  const hasScanned = filters.length > 0 || orderBy !== undefined || order !== undefined;
  return {
    apiId,
    externalId: input.externalId ?? input.ownerId,
    identityId,
    filters,
    orderBy: orderBy ?? "createdAt",
    descending: order === "desc",
    createdAfter,
    hasTotal: apiId !== undefined && identityId === undefined && !hasScanned,
    hasScanned,
  };
}

/**
 * Distinguishes the cursors of a question from those of all others. For all keys of an API in creation order, it is the API's id, for
 * compatibility with older cursors.
 */
export function scopeOf(workspaceId: string, question: KeyQuestion): ListScope {
  const { apiId = null, externalId = null, identityId = null, filters } = question;
  const { orderBy, descending } = question;
  const isPlain = externalId === null && identityId === null && filters.length === 0;
  if (apiId !== null && isPlain && orderBy === "createdAt" && !descending)
    return { list: "keys", ownerId: apiId };
  const asked = [workspaceId, apiId, externalId, identityId, filters, orderBy, descending];
  return { list: "found-keys", ownerId: shortDigest(asked) };
}

/** The parts of a position, each an id, or none. A value is whole ms. */
const FORMS = {
  ofApi: /^key_[A-Za-z0-9]+$/,
  ofWorkspace: /^(?:api_[A-Za-z0-9]+)?\.(?:api_[A-Za-z0-9]+)?\.(?:key_[A-Za-z0-9]+)?$/,
  ofValues: /^[0-9]{0,16}\.key_[A-Za-z0-9]+$/,
};

/** The form that the position in a cursor of a question must have. */
export function positionForm({ apiId, orderBy }: KeyQuestion): RegExp {
  if (orderBy !== "createdAt") return FORMS.ofValues;
  return apiId === undefined ? FORMS.ofWorkspace : FORMS.ofApi;
}
