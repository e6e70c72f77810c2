import { z } from "zod";
import type { ListScope } from "../../../lib/cursor.js";
import {
  filtersIn,
  type GivenFilters,
  KEY_ORDERS,
  type KeyOrder,
  ORDERS,
} from "../../../rules/keys/listing.js";
import { sha256Text } from "../../../secrets/hash.js";
import type { EpochMs } from "../../../time.js";
import { evenWithIssues, externalId, flag, id, pageFields, refuseField } from "../../input.js";
import { keyFilterFields } from "./filter-input.js";

export const listKeysInput = z
  .strictObject({
    apiId: id.optional(),
    ...pageFields,
    ownerId: externalId.optional(),
    externalId: externalId.optional(),
    identityId: id.optional(),
    ...keyFilterFields,
    orderBy: oneOf(KEY_ORDERS).optional(),
    order: oneOf(ORDERS).optional(),
    decrypt: flag.nullish(),
  })
  .superRefine(({ identityId, externalId, ownerId }, sink) => {
    if (identityId !== undefined && (externalId ?? ownerId) !== undefined)
      refuseField(sink, "identityId", "must not be given with externalId");
  }, evenWithIssues);

function oneOf<Word extends string>(words: readonly Word[]) {
  return z.enum(words, { error: `must be ${words.map((word) => `"${word}"`).join(" or ")}` });
}

/** Which keys to find, and in which order. */
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

/** The question in a checked input. */
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

/** Characters of base64url of the digest of a question: 128 bits and more. */
const DIGEST_LENGTH = 22;

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
  const digest = sha256Text(JSON.stringify(asked)).slice(0, DIGEST_LENGTH);
  return { list: "found-keys", ownerId: digest };
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
