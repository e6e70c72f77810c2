import { isDeeperThan } from "@latchkey/core";

/**
 * Maximum characters of a line of JSON, and maximum bytes of a row of CSV: a longer one is not a key, and is not kept in memory.
 */
export const MAX_ROW = 1_000_000;

/** Maximum nesting of a row: metadata may have 16 levels, and responses of other systems wrap it. */
const MAX_DEPTH = 32;

/** The message for a value with more levels. */
export const TOO_DEEP: string = `is nested more than ${MAX_DEPTH} levels deep`;

/** Whether a value has more levels than a row may have. */
export function isTooDeep(value: unknown): boolean {
  return isDeeperThan(MAX_DEPTH, value);
}
