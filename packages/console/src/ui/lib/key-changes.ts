import { limitsOf, limitsText } from "./limit-text.js";
import type { Key } from "./types.js";
import { localInstant } from "./words.js";

/** In place of a refill of an interval that the form does not know, which stays. */
export const AS_IT_IS = "as it is";

/** Fields that an empty list clears. */
const LISTS = ["roles", "tags", "ipWhitelist"];

/** Texts on one line. */
const TEXTS = ["name", "externalId", "environment"];

/** A text as its field gives it back: without line breaks, and without spaces around it. */
const asTyped = (text: unknown) =>
  String(text ?? "")
    .replace(/[\r\n]/g, "")
    .trim();

/** What differs from the key as it is. What was emptied is null, which clears it. */
export function changesOf(
  typed: Readonly<Record<string, unknown>>,
  item: Key,
): Record<string, unknown> {
  const { interval, amount, lastRefillAt: _, ...rest } = item.refill ?? {};
  // As the form writes them: what it cannot say is no change.
  const limits = limitsOf(limitsText(item.ratelimits ?? []));
  const before: Record<string, unknown> = {
    name: item.name,
    externalId: item.identity?.externalId,
    environment: item.environment,
    expires: item.expires,
    remaining: item.remaining,
    refill: item.refill && { interval, amount },
    ratelimit: limits.ratelimit,
    ratelimits: limits.ratelimits,
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
    if (TEXTS.includes(field)) return asTyped(typed[field]) === asTyped(before[field]);
    // An interval that the form does not know stays as it is unless another is chosen.
    if (field === "refill" && typed.refill === AS_IT_IS) return true;
    return JSON.stringify(typed[field] ?? null) === JSON.stringify(before[field] ?? null);
  };
  const changed = Object.keys(before).filter((field) => !isSame(field));
  const changes = changed.map((field) => {
    const value = typed[field] ?? (LISTS.includes(field) ? [] : null);
    // What the form does not show of a refill of the same interval stays.
    const isSameInterval = (value as { interval?: unknown } | null)?.interval === interval;
    return [
      field,
      field === "refill" && isSameInterval ? { ...rest, ...(value as object) } : value,
    ];
  });
  return Object.fromEntries(changes);
}
