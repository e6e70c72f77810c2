import { KEY_LABELS } from "../../../records/key-labels.js";
import type { KeyFilter } from "../../../rules/keys/filter.js";
import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../../rules/latchkey-types.js";
import { flag, grantName, text } from "../../input.js";
import { instant } from "../../time-input.js";
import { keyTags } from "../settings.js";

/** Which keys a list keeps: those that every filter keeps. Instants are Unix epoch ms, or a `Date`. */
export type KeyFilters<Types extends LatchkeyTypes = DefaultTypes> = {
  /** Keys whose `enabled`, as lists show it, is this: false before it starts, and once it is switched off, expired or used up. */
  readonly enabled?: boolean | undefined;
  /** Keys that expire before this instant. A key without `expires` is never kept. */
  readonly expiresBefore?: number | Date | undefined;
  /** Keys that expire at this instant or later. A key without `expires` is never kept. */
  readonly expiresAfter?: number | Date | undefined;
  /** Keys last used before this instant. One that was never used is kept. */
  readonly usedBefore?: number | Date | undefined;
  /** Keys last used at this instant or later. */
  readonly usedAfter?: number | Date | undefined;
  /** Keys created before this instant. */
  readonly createdBefore?: number | Date | undefined;
  /** Keys created at this instant or later. */
  readonly createdAfter?: number | Date | undefined;
  /** Keys whose name contains this, 1 to 256 characters, upper and lower case alike. */
  readonly nameContains?: string | undefined;
  /** Keys that hold what grants this permission: themselves or through roles, a wildcard too. */
  readonly permission?: PermissionName<Types> | undefined;
  /** Keys that have the role of this name. */
  readonly role?: string | undefined;
  /** Keys whose `environment` is exactly this. */
  readonly environment?: string | undefined;
  /** Keys that have all of these tags: at most 32. */
  readonly tags?: readonly string[] | undefined;
};

/** Schemas of {@link KeyFilters}. */
export const keyFilterFields = {
  enabled: flag.optional(),
  expiresBefore: instant(0).optional(),
  expiresAfter: instant(0).optional(),
  usedBefore: instant(0).optional(),
  usedAfter: instant(0).optional(),
  createdBefore: instant(0).optional(),
  createdAfter: instant(0).optional(),
  nameContains: text(1, KEY_LABELS.name.length[1]).optional(),
  permission: grantName.optional(),
  role: grantName.optional(),
  environment: text(...KEY_LABELS.environment.length).optional(),
  // In one order: the same tags are the same question.
  tags: keyTags.transform((tags): readonly string[] => [...tags].sort()).optional(),
} satisfies { readonly [Name in keyof KeyFilter]: unknown };
