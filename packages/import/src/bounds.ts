import { isDeeperThan } from "@latchkey/core";

/** Most characters of a line of JSON, and most bytes of a row of CSV: a longer one is no key, and is not kept in memory. */
export const MAX_ROW = 1_000_000;

/** Most levels of a row: metadata may have 16, and answers of other systems wrap it. */
const MAX_DEPTH = 32;

/** What is said of a value that has more. */
export const TOO_DEEP: string = `is nested more than ${MAX_DEPTH} levels deep`;

/** Whether a value has more levels than a row may. */
export function isTooDeep(value: unknown): boolean {
  return isDeeperThan(MAX_DEPTH, value);
}
