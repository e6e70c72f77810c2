import { nextTurn } from "../lib/yield.js";
import type { Removal } from "../store/wide-store.js";

/** Entries of a log, or counters, forgotten in one step: some milliseconds on every store. */
export const FORGOTTEN_AT_ONCE = 500;

/**
 * Repeats a bounded step of removal until nothing is left to remove, and lets other work of this process through between
 * two of them.
 *
 * @param limit - Items of one step.
 * @param step - Removes at most so many items.
 * @returns How many were removed in all.
 */
export async function removeAll(
  limit: number,
  step: (limit: number) => Promise<Removal>,
): Promise<{ readonly deleted: number }> {
  let total = 0;
  for (;;) {
    const { deleted, hasMore } = await step(limit);
    total += deleted;
    if (!hasMore) return { deleted: total };
    await nextTurn();
  }
}
