import { z } from "zod";
import { bucketStartAt } from "../../statistics/buckets.js";
import type { PrunedCount } from "../audit-log/prune-audit-events.js";
import type { OperationContext } from "../context.js";
import { DELETED_AT_ONCE, deleteInBatches } from "../delete-in-batches.js";
import { parseInput } from "../input.js";
import { instant, notLaterThanNow } from "../time-input.js";

/** Input of pruneVerifications. */
export interface PruneVerificationsInput {
  /** An instant, Unix epoch ms or a `Date`, not later than now: counters of days of UTC that were over by then are deleted. */
  readonly before: number | Date;
}

/** Schema of the input of pruneVerifications. */
export const pruneVerificationsInput = z.strictObject({ before: instant(0) });

/** @see StatisticsOperations.pruneVerifications */
export async function pruneVerifications(
  context: OperationContext,
  input: PruneVerificationsInput,
): Promise<PrunedCount> {
  const { store, workspaceId } = context;
  const now = context.now();
  const { before } = parseInput(pruneVerificationsInput, input, (raw) =>
    notLaterThanNow(raw, "before", now),
  );
  const beforeAt = bucketStartAt(before, "day");
  return deleteInBatches(context.timer, DELETED_AT_ONCE, (limit) =>
    store.deleteStatistics(workspaceId, beforeAt, limit),
  );
}
