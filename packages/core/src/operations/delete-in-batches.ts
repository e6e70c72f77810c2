import { yieldToEventLoop } from "../lib/event-loop.js";
import type { DeletedCount } from "../store/statistics.js";
import { afterWriting } from "./after-writing.js";
import { inRounds, type OperationContext } from "./context.js";

/** Entries of the audit log, or sums of statistics, deleted in one step: some milliseconds on every store. */
export const DELETED_AT_ONCE = 500;

/** The longest pause between two steps, in ms: the clock of a test may jump. */
const MAX_PAUSE_MS = 100;

/**
 * Repeats a bounded step of deletion until nothing is left. Between two of them others have as much time as a step took, in this
 * process and where they wait for what a step locks: then few of their calls meet one.
 *
 * @param limit - Items of one step.
 * @param step - Deletes at most so many items, with what it is given to work with: then a repeat of the call counts them too.
 * @param countOf - How many the answer of a transaction says were deleted.
 * @returns How many were deleted in all, by this call and those that it repeats.
 * @throws LatchkeyError `STORE_UNAVAILABLE`, with the outcome `unknown` where some were deleted before; whatever else a step throws.
 */
export async function deleteInBatches<Answer = DeletedCount>(
  context: OperationContext,
  limit: number,
  step: (context: OperationContext, limit: number) => Promise<DeletedCount>,
  countOf: (answer: Answer) => number = (answer) => (answer as DeletedCount).deleted,
): Promise<{ readonly deleted: number }> {
  const { timer } = context;
  const { round, total } = inRounds(context, countOf);
  let own = 0;
  for (;;) {
    const startedAt = timer();
    const next = () => step(round, limit);
    const { deleted, hasMore } = await (own === 0 ? next() : afterWriting(next));
    own += deleted;
    if (!hasMore)
      return { deleted: await (own === 0 ? total(own) : afterWriting(() => total(own))) };
    await yieldToEventLoop(Math.min(timer() - startedAt, MAX_PAUSE_MS));
  }
}
