import { KEY_LABELS } from "../../../records/key-labels.js";
import type { KeyFilter } from "../../../rules/keys/listing.js";
import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../../rules/latchkey-types.js";
import { secretShape } from "../../../secrets/format.js";
import { MAX_START_LENGTH } from "../../../secrets/shown-start.js";
import { flag, grantName, text } from "../../input.js";
import { instant } from "../../time-input.js";
import { keyTags } from "../settings.js";

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

export const keyFilterFields = {
  enabled: flag.optional(),
  expiresBefore: instant(0).optional(),
  expiresAfter: instant(0).optional(),
  usedBefore: instant(0).optional(),
  usedAfter: instant(0).optional(),
  createdBefore: instant(0).optional(),
  createdAfter: instant(0).optional(),
  nameContains: text(1, KEY_LABELS.name.length[1]).optional(),
  start: text(1, MAX_START_LENGTH)
    .refine((start) => secretShape(start) !== "intact", {
      error: "must be the first characters of a secret, not the whole secret",
    })
    .transform((start) => start.replace(MASKED, ""))
    .optional(),
  permission: grantName.optional(),
  role: grantName.optional(),
  environment: text(...KEY_LABELS.environment.length).optional(),
  // Sorted: the same tags are the same question.
  tags: keyTags.transform((tags): readonly string[] => [...tags].sort()).optional(),
} satisfies { readonly [Name in keyof KeyFilter]: unknown };
