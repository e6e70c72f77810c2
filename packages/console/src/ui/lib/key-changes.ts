import type { Key } from "./types.js";
import { localInstant } from "./words.js";

/** Fields that an empty list clears. */
const LISTS = ["roles", "tags", "ipWhitelist"];

/** What differs from the key as it is. What was emptied is null, which clears it. */
export function changesOf(
  typed: Readonly<Record<string, unknown>>,
  item: Key,
): Record<string, unknown> {
  const standard = item.ratelimits?.find(({ name }) => name === "default");
  const { interval, amount } = item.refill ?? {};
  const before: Record<string, unknown> = {
    name: item.name,
    externalId: item.identity?.externalId,
    environment: item.environment,
    expires: item.expires,
    remaining: item.remaining,
    refill: item.refill && { interval, amount },
    ratelimit: standard && { limit: standard.limit, duration: standard.duration },
    roles: item.roles.length === 0 ? undefined : item.roles,
    tags: item.tags,
    ipWhitelist: item.ipWhitelist,
    startsAt: item.startsAt,
    expiresWhenUnused: item.expiresWhenUnused,
    meta: item.meta,
  };
  const isSame = (field: string): boolean => {
    // The field shows minutes: an instant within one is as it was.
    if (field === "expires" || field === "startsAt") {
      const [was, is] = [before[field], typed[field]] as (number | undefined)[];
      return localInstant(was) === localInstant(is);
    }
    // An interval that the form does not know stays as it is unless another is chosen.
    if (field === "refill" && typeof interval === "object" && !typed.refill) return true;
    return JSON.stringify(typed[field] ?? null) === JSON.stringify(before[field] ?? null);
  };
  const changed = Object.keys(before).filter((field) => !isSame(field));
  const cleared = (field: string) => (LISTS.includes(field) ? [] : null);
  return Object.fromEntries(changed.map((field) => [field, typed[field] ?? cleared(field)]));
}
