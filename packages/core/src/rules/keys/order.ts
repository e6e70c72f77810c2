import type { EpochMs } from "../../time.js";

/** What keys can be ordered by. */
export const KEY_ORDERS = ["createdAt", "expires", "lastUsedAt"] as const;

export type KeyOrder = (typeof KEY_ORDERS)[number];

/** Ascending or descending. */
export const ORDERS = ["asc", "desc"] as const;

/** An order by a value that changes, or that a key may lack. */
export type ValueOrder = Exclude<KeyOrder, "createdAt">;

/** The place of a key in an order: its value, which may be missing, then its id. */
export interface KeyPlace {
  readonly value: EpochMs | null;
  readonly id: string;
}

/**
 * Stand-ins for missing values: a key without `expires` sorts as if it expired last, and a key that was never used as if it was used first.
 */
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
