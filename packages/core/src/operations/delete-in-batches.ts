import { yieldToEventLoop } from "../lib/event-loop.js";
import type { DeletedCount } from "../store/statistics.js";
import type { Timer } from "../time.js";
import { afterWriting } from "./after-writing.js";

/** Entries of the audit log, or sums of statistics, deleted in one step: some milliseconds on every store. */
export const DELETED_AT_ONCE = 500;

/** The longest pause between two steps, in ms: the clock of a test may jump. */
const MAX_PAUSE_MS = 100;

/**
 * Repeats a bounded step of deletion until nothing is left. Between two of them others have as much time as a step took, in this
 * process and where they wait for what a step locks: then few of their calls meet one.
 *
 * @param limit - Items of one step.
 * @param step - Deletes at most so many items.
 * @returns How many were deleted in all.
 * @throws LatchkeyError `STORE_UNAVAILABLE`, with the outcome `unknown` where some were deleted before; whatever else a step throws.
 */
export async function deleteInBatches(
  timer: Timer,
  limit: number,
  step: (limit: number) => Promise<DeletedCount>,
): Promise<{ readonly deleted: number }> {
  let total = 0;
  for (;;) {
    const startedAt = timer();
    const next = () => step(limit);
    const { deleted, hasMore } = await (total === 0 ? next() : afterWriting(next));
    total += deleted;
    if (!hasMore) return { deleted: total };
    await yieldToEventLoop(Math.min(timer() - startedAt, MAX_PAUSE_MS));
  }
}
