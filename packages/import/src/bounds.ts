import { isObject } from "./columns.js";

/** Most characters of a line of JSON, and most bytes of a row of CSV: a longer one is no key, and is not kept in memory. */
export const MAX_ROW = 1_000_000;

/** Most levels of a row: metadata may have 16, and answers of other systems wrap it. */
export const MAX_DEPTH = 32;

/** What is said of a value that has more. */
export const TOO_DEEP: string = `is nested more than ${MAX_DEPTH} levels deep`;

/** Whether a value has more levels than a row may: the value itself is the first, if it is an object or a list. */
export function isTooDeep(value: unknown): boolean {
  // Without recursion, which is what such a value would break.
  const pending: (readonly [value: unknown, depth: number])[] = [[value, 1]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [at, depth] = next;
    if (!isObject(at) && !Array.isArray(at)) continue;
    if (depth > MAX_DEPTH) return true;
    for (const inner of Object.values(at)) pending.push([inner, depth + 1]);
  }
  return false;
}
