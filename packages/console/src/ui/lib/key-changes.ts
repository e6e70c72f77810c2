import { limitsOf, limitsText } from "./limit-text.js";
import { mergedNames, mergedRules } from "./rule-changes.js";
import type { Key } from "./types.js";
import { localInstant } from "./words.js";

/** Stands for a refill with an interval that the form does not support. That refill is kept. */
export const AS_IT_IS = "as it is";

/** Fields that an empty list clears. */
const LISTS = ["roles", "tags", "ipWhitelist"];

/** Fields with a single line of text. */
const TEXTS = ["name", "externalId", "environment"];

/** A text as its field returns it: without line breaks and surrounding spaces. */
const asTyped = (text: unknown) =>
  String(text ?? "")
    .replace(/[\r\n]/g, "")
    .trim();

/** A key as its form returns it, so that what the form cannot express is no change. */
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

/** The fields that differ from the key. An emptied field is null, or an empty list, which clears it. */
export function changesOf(
  typed: Readonly<Record<string, unknown>>,
  item: Key,
): Record<string, unknown> {
  const { interval, amount: _, lastRefillAt: __, ...rest } = item.refill ?? {};
  const before = formOf(item);
  const isSame = (field: string): boolean => {
    // The field shows minutes, so an instant within the same minute is unchanged.
    if (field === "expires" || field === "startsAt") {
      const [was, is] = [before[field], typed[field]] as (number | undefined)[];
      return localInstant(was) === localInstant(is);
    }
    if (TEXTS.includes(field)) return asTyped(typed[field]) === asTyped(before[field]);
    // An interval that the form does not support is kept unless another is chosen.
    if (field === "refill" && typed.refill === AS_IT_IS) return true;
    return JSON.stringify(typed[field] ?? null) === JSON.stringify(before[field] ?? null);
  };
  const changed = Object.keys(before).filter((field) => !isSame(field));
  const changes = changed.map((field) => {
    const value = typed[field] ?? (LISTS.includes(field) ? [] : null);
    // Parts of a refill that the form does not show are kept if the interval is the same.
    const isSameInterval = (value as { interval?: unknown } | null)?.interval === interval;
    return [
      field,
      field === "refill" && isSameInterval ? { ...rest, ...(value as object) } : value,
    ];
  });
  return Object.fromEntries(changes);
}

/** Lists in which each name is a setting of its own. */
const NAMES = ["roles", "tags"] as const;

/**
 * Settings that are written as a whole, although they have several parts. Addresses belong here: if two operators each remove one of two
 * addresses, none is left, which lets the key in from anywhere.
 */
const WHOLE = ["refill", "ratelimit", "ratelimits", "ipWhitelist", "meta"];

/**
 * Changes to write if others may have changed the key since the form was opened. Additions and removals of roles and tags are applied to
 * those that the key has now.
 *
 * @param changes - From {@link changesOf}. @param opened - The key when the form was opened. @param now - The current key.
 * @throws Error in words, if somebody else has changed a setting that would be overwritten as a whole.
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

/** The {@link WHOLE} settings in the form of {@link changesOf}: null or an empty list if there is nothing. */
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
