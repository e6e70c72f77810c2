import { hostTimer, yieldToEventLoop } from "../lib/yield.js";
import type { DeletedCount } from "../store/statistics.js";

/** Entries of the audit log, or sums of statistics, deleted in one step: some milliseconds on every store. */
export const DELETED_AT_ONCE = 500;

/**
 * Repeats a bounded step of deletion until nothing is left. At least half of the time is for others, of this process and of
 * those that wait for what a step locks: then few of their calls meet one.
 *
 * @param limit - Items of one step.
 * @param step - Deletes at most so many items.
 * @returns How many were deleted in all.
 */
export async function deleteInBatches(
  limit: number,
  step: (limit: number) => Promise<DeletedCount>,
): Promise<{ readonly deleted: number }> {
  let total = 0;
  for (;;) {
    const startedAt = hostTimer();
    const { deleted, hasMore } = await step(limit);
    total += deleted;
    if (!hasMore) return { deleted: total };
    await yieldToEventLoop(hostTimer() - startedAt);
  }
}
