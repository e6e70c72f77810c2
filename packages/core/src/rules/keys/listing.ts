import type { EpochMs } from "../../time.js";
import type { HeldPermissions } from "../permission.js";

export interface FilteredKey {
  /** Derived, as lists show it. */
  readonly enabled: boolean;
  readonly name: string | null;
  /** The shown start of its secret; empty for none. */
  readonly start: string;
  readonly environment: string | null;
  readonly tags: readonly string[];
  readonly createdAt: EpochMs;
  readonly expires: EpochMs | null;
  readonly lastUsedAt: EpochMs | null;
  /** Names of its roles. */
  readonly roles: readonly string[];
  readonly held: HeldPermissions;
}

/** Whether each filter keeps a key. Instants are Unix epoch ms. */
const KEEPS = {
  enabled: (key: FilteredKey, enabled: boolean) => key.enabled === enabled,
  expiresBefore: ({ expires }: FilteredKey, at: EpochMs) => expires !== null && expires < at,
  expiresAfter: ({ expires }: FilteredKey, at: EpochMs) => expires !== null && expires >= at,
  usedBefore: ({ lastUsedAt }: FilteredKey, at: EpochMs) => lastUsedAt === null || lastUsedAt < at,
  usedAfter: ({ lastUsedAt }: FilteredKey, at: EpochMs) => lastUsedAt !== null && lastUsedAt >= at,
  createdBefore: ({ createdAt }: FilteredKey, at: EpochMs) => createdAt < at,
  createdAfter: ({ createdAt }: FilteredKey, at: EpochMs) => createdAt >= at,
  nameContains: ({ name }: FilteredKey, part: string) => name !== null && contains(name, part),
  start: ({ start }: FilteredKey, typed: string) =>
    start.startsWith(typed) || (start !== "" && typed.startsWith(start)),
  permission: ({ held }: FilteredKey, name: string) => held.grant(name),
  role: ({ roles }: FilteredKey, name: string) => roles.includes(name),
  environment: ({ environment }: FilteredKey, label: string) => environment === label,
  tags: ({ tags }: FilteredKey, all: readonly string[]) => all.every((tag) => tags.includes(tag)),
};

/** Selects the keys that pass every given filter. */
export type KeyFilter = {
  readonly [Name in keyof typeof KEEPS]?: Parameters<(typeof KEEPS)[Name]>[1] | undefined;
};

/** The given filters, each with its wanted value. */
export type GivenFilters = readonly (readonly [name: keyof KeyFilter, wanted: unknown])[];

/** The filters in a question without its other fields, always in the same order. */
export function filtersIn(question: KeyFilter): GivenFilters {
  const names = Object.keys(KEEPS) as readonly (keyof KeyFilter)[];
  return names.flatMap((name) => {
    const wanted = question[name];
    return wanted === undefined ? [] : [[name, wanted] as const];
  });
}

export function isKept(key: FilteredKey, filters: GivenFilters): boolean {
  return filters.every(([name, wanted]) => {
    const keeps = KEEPS[name] as (key: FilteredKey, wanted: unknown) => boolean;
    return keeps(key, wanted);
  });
}

/** Whether a text contains a part, ignoring case. */
export function contains(text: string, part: string): boolean {
  return caseless(text).includes(caseless(part));
}

/** Folds case, in two steps because `ß` and `ς` have no upper or lower case of one letter. */
function caseless(text: string): string {
  return text.toLowerCase().toUpperCase();
}

export const KEY_ORDERS = ["createdAt", "expires", "lastUsedAt"] as const;

export type KeyOrder = (typeof KEY_ORDERS)[number];

export const ORDERS = ["asc", "desc"] as const;

/** An order by a value that changes, or that a key may lack. */
export type ValueOrder = Exclude<KeyOrder, "createdAt">;

/** The place of a key in an order: its value, which may be missing, then its id. */
export interface KeyPlace {
  readonly value: EpochMs | null;
  readonly id: string;
}

/** Stand-ins for missing values: a key without `expires` sorts as if it expired last, one that was never used as if it was used first. */
const MISSING: { readonly [Order in ValueOrder]: number } = {
  expires: Number.POSITIVE_INFINITY,
  lastUsedAt: Number.NEGATIVE_INFINITY,
};

/** Below 0 if `one` comes before `other` in ascending order. Keys with the same value are ordered by id. */
export function comparePlaces(orderBy: ValueOrder, one: KeyPlace, other: KeyPlace): number {
  const [first, second] = [one.value ?? MISSING[orderBy], other.value ?? MISSING[orderBy]];
  if (first !== second) return first < second ? -1 : 1;
  return compareIds(one.id, other.id);
}

/** Below 0 if `one` was created before `other`. */
export function compareIds(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
