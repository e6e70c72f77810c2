import { z } from "zod";
import { bucketStartAt } from "../../statistics/buckets.js";
import type { OperationContext } from "../context.js";
import { DELETED_AT_ONCE, deleteInBatches } from "../delete-in-batches.js";
import { notLaterThanNow, parseInput, wholeNumber } from "../input.js";

/** Input of pruneVerifications. `before`: Unix epoch ms, not later than now. */
export const pruneVerificationsInput = z.strictObject({ before: wholeNumber(0) });

/**
 * Forgets the counters of verifications of all days of UTC that were over at an instant. It works in bounded steps: while it
 * runs, other calls get through. `lastUsedAt` of keys stays.
 *
 * @returns How many counters this call forgot: one for each key, API or identity, hour and verdict.
 */
export async function pruneVerifications(
  context: OperationContext,
  input: z.input<typeof pruneVerificationsInput>,
): Promise<{ readonly deleted: number }> {
  const { store, workspaceId } = context;
  const now = context.now();
  const { before } = parseInput(pruneVerificationsInput, input, (raw) =>
    notLaterThanNow(raw, "before", now),
  );
  const beforeAt = bucketStartAt(before, "day");
  return deleteInBatches(DELETED_AT_ONCE, (limit) =>
    store.deleteStatistics(workspaceId, beforeAt, limit),
  );
}
