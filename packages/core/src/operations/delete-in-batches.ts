import { yieldToEventLoop } from "../lib/promises.js";
import type { RecordType } from "../records/record-type.js";
import { afterWriting } from "../store/after-writing.js";
import type { DeletedCount } from "../store/statistics.js";
import { inRounds, type OperationContext, transact } from "./context.js";
import { deleteFound } from "./damaged.js";
import { readList } from "./read.js";

/** Entries of the audit log, or sums of statistics, deleted in one step: some milliseconds on every store. */
export const DELETED_AT_ONCE = 500;

/** The longest pause between two steps, in ms: the clock of a test may jump. */
const MAX_PAUSE_MS = 100;

/**
 * Repeats a bounded deletion step until nothing is left. After each step it pauses for as long as the step took, so that other calls rarely
 * wait for one.
 *
 * @param step - Deletes at most `limit` items in the given context, so that a repeat of the call counts them too.
 * @returns How many were deleted, by this call and those that it repeats.
 * @throws LatchkeyError `STORE_UNAVAILABLE`, with the outcome `unknown` if some were deleted before.
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
    const { deleted, hasMore } = await afterWriting(() => step(round, limit), own > 0);
    own += deleted;
    if (!hasMore) return { deleted: await afterWriting(() => total(own), own > 0) };
    await yieldToEventLoop(Math.min(timer() - startedAt, MAX_PAUSE_MS));
  }
}

/** Records deleted in one step: some milliseconds on every store. */
const RECORDS_AT_ONCE = 200;

/** Deletes all records of a type in the small list of an identity, including damaged ones. @returns How many there were. */
export async function forgetOf<Value>(
  context: OperationContext,
  type: RecordType<Value>,
  identityId: string,
): Promise<{ readonly deleted: number }> {
  const { kind } = type;
  const read = (limit: number) => readList(context, { kind, of: identityId, limit });
  return deleteInBatches(context, RECORDS_AT_ONCE, async (round, limit) => {
    const step = await transact(round, async ({ transaction }) => {
      const { found, hasMore } = await read(limit);
      deleteFound(transaction, type, found, identityId);
      return { deleted: found.length, hasMore };
    });
    if (step.hasMore) return step;
    // If the store failed over before that commit, some that another call had deleted may be there again.
    const { found } = await afterWriting(() => read(1), step.deleted > 0);
    return { ...step, hasMore: found.length > 0 };
  });
}
