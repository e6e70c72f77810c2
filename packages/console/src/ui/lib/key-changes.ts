import { limitsOf, limitsText } from "./limit-text.js";
import { mergedNames, mergedRules } from "./rule-changes.js";
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

/** A key as its form writes it: what the form cannot say is no change. */
function formOf(item: Key): Readonly<Record<string, unknown>> {
  const { ratelimit, ratelimits } = limitsOf(limitsText(item.ratelimits ?? []));
  const { interval, amount } = item.refill ?? {};
  return {
    name: item.name,
    externalId: item.identity?.externalId,
    environment: item.environment,
    expires: item.expires,
    remaining: item.remaining,
    refill: item.refill && { interval, amount },
    ratelimit,
    ratelimits,
    roles: item.roles.length === 0 ? undefined : item.roles,
    tags: item.tags,
    ipWhitelist: item.ipWhitelist,
    startsAt: item.startsAt,
    expiresWhenUnused: item.expiresWhenUnused,
    meta: item.meta,
  };
}

/** What differs from the key as it is. What was emptied is null, which clears it. */
export function changesOf(
  typed: Readonly<Record<string, unknown>>,
  item: Key,
): Record<string, unknown> {
  const { interval, amount: _, lastRefillAt: __, ...rest } = item.refill ?? {};
  const before = formOf(item);
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

/** Lists of which each name is a setting of its own. */
const NAMES = ["roles", "tags"] as const;

/**
 * Settings that are written as a whole, though they hold several things. Addresses too: two who each take one of two away would leave none,
 * which lets the key in from anywhere.
 */
const WHOLE = ["refill", "ratelimit", "ratelimits", "ipWhitelist", "meta"];

/**
 * Changes to write, where others may have changed the key since the form was opened: of roles and tags, what was added and taken away in the
 * form is done to those that the key has now.
 *
 * @param changes - From {@link changesOf}. @param opened - The key as it was then. @param now - As it is.
 * @throws Error in words, if somebody else has changed what would be overwritten as a whole.
 */
export function mergedChanges(
  changes: Readonly<Record<string, unknown>>,
  opened: Key,
  now: Key,
): Record<string, unknown> {
  const [before, current] = [wholeOf(opened), wholeOf(now)];
  const whole = Object.entries(changes).filter(([field]) => WHOLE.includes(field));
  mergedRules(before, { ...before, ...Object.fromEntries(whole) }, before, current);
  const merged = { ...changes };
  for (const field of NAMES)
    if (changes[field] !== undefined)
      merged[field] = mergedNames(
        opened[field] ?? [],
        changes[field] as readonly string[],
        now[field] ?? [],
      );
  return merged;
}

/** In the form in which {@link changesOf} writes them: null and an empty list where there is nothing. */
function wholeOf(item: Key): Readonly<Record<string, unknown>> {
  const { lastRefillAt: _, ...refill } = item.refill ?? {};
  const fields = { ...formOf(item), refill: item.refill && refill };
  return Object.fromEntries(
    WHOLE.map((field) => [
      field,
      fields[field as keyof typeof fields] ?? (LISTS.includes(field) ? [] : null),
    ]),
  );
}
