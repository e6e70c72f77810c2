import type { EpochMs } from "../../time.js";
import type { HeldPermissions } from "../permission.js";

/** Which keys are wanted: those that every filter keeps that is given. Instants are Unix epoch ms. */
export interface KeyFilter {
  readonly enabled?: boolean | undefined;
  readonly expiresBefore?: EpochMs | undefined;
  readonly expiresAfter?: EpochMs | undefined;
  readonly usedBefore?: EpochMs | undefined;
  readonly usedAfter?: EpochMs | undefined;
  readonly createdBefore?: EpochMs | undefined;
  readonly createdAfter?: EpochMs | undefined;
  readonly nameContains?: string | undefined;
  readonly start?: string | undefined;
  readonly permission?: string | undefined;
  readonly role?: string | undefined;
  readonly environment?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** What filters look at of a key. */
export interface FilteredKey {
  /** Derived, as lists show it. */
  readonly enabled: boolean;
  readonly name: string | null;
  /** What is shown of its secret; empty for nothing. */
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

/** Whether each filter keeps a key. */
const KEEPS: {
  readonly [Name in keyof KeyFilter]-?: (
    key: FilteredKey,
    wanted: Exclude<KeyFilter[Name], undefined>,
  ) => boolean;
} = {
  enabled: (key, enabled) => key.enabled === enabled,
  expiresBefore: ({ expires }, at) => expires !== null && expires < at,
  expiresAfter: ({ expires }, at) => expires !== null && expires >= at,
  usedBefore: ({ lastUsedAt }, at) => lastUsedAt === null || lastUsedAt < at,
  usedAfter: ({ lastUsedAt }, at) => lastUsedAt !== null && lastUsedAt >= at,
  createdBefore: ({ createdAt }, at) => createdAt < at,
  createdAfter: ({ createdAt }, at) => createdAt >= at,
  nameContains: ({ name }, part) => name !== null && contains(name, part),
  start: ({ start }, typed) => start.startsWith(typed) || (start !== "" && typed.startsWith(start)),
  permission: ({ held }, name) => held.grant(name),
  role: ({ roles }, name) => roles.includes(name),
  environment: ({ environment }, label) => environment === label,
  tags: ({ tags }, all) => all.every((tag) => tags.includes(tag)),
};

/** Filters that were given, each with what it wants. */
export type GivenFilters = readonly (readonly [name: keyof KeyFilter, wanted: unknown])[];

/** The filters of a question, without all else in it, always in the same order. */
export function filtersIn(question: KeyFilter): GivenFilters {
  const names = Object.keys(KEEPS) as readonly (keyof KeyFilter)[];
  return names.flatMap((name) => {
    const wanted = question[name];
    return wanted === undefined ? [] : [[name, wanted] as const];
  });
}

/** Whether every filter keeps a key. */
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

/** The same text for upper and lower case: two steps, for `ß` and `ς` have no upper or lower case of one letter. */
function caseless(text: string): string {
  return text.toLowerCase().toUpperCase();
}
