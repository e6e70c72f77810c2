import { z } from "zod";
import { lowestIdAt } from "../../lib/id.js";
import { AUDIT_LIST, auditEntryType } from "../../records/audit-entry.js";
import type { DeletedCount } from "../../store/statistics.js";
import type { OperationContext } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { DELETED_AT_ONCE, deleteInBatches } from "../delete-in-batches.js";
import { parseInput } from "../input.js";
import { instant, notLaterThanNow } from "../time-input.js";

/** Input of pruneAuditEvents. */
export interface PruneAuditEventsInput {
  /** An instant, Unix epoch ms or a `Date`, not later than now: entries that were written earlier are deleted. */
  readonly before: number | Date;
}

/** Schema of the input of pruneAuditEvents. */
export const pruneAuditEventsInput = z.strictObject({ before: instant(0) });

/** What pruning has deleted. */
export interface PrunedCount {
  /** How many entries or counters this call deleted. */
  readonly deleted: number;
}

/** @see AuditOperations.pruneAuditEvents */
export async function pruneAuditEvents(
  context: OperationContext,
  input: PruneAuditEventsInput,
): Promise<PrunedCount> {
  const now = context.now();
  const { before } = parseInput(pruneAuditEventsInput, input, (raw) =>
    notLaterThanNow(raw, "before", now),
  );
  const beforeId = lowestIdAt("evt", before);
  return deleteInBatches(context.timer, DELETED_AT_ONCE, (limit) =>
    deleteBefore(context, beforeId, limit),
  );
}

async function deleteBefore(
  { store, transact, workspaceId }: OperationContext,
  beforeId: string,
  limit: number,
): Promise<DeletedCount> {
  const { answer } = await transact(workspaceId, async (transaction) => {
    const page = await store.page(workspaceId, {
      kind: "auditEntry",
      list: AUDIT_LIST,
      after: null,
      limit,
    });
    const old = page.found.filter(({ record }) => record.id < beforeId);
    for (const { record, handle } of old) {
      const { id } = record;
      transaction.expect({ kind: "auditEntry", id, version: "exists", handle });
      const entry = decodeOrNull(auditEntryType, record, workspaceId);
      const lists = entry === null ? [{ list: AUDIT_LIST }] : auditEntryType.lists(entry);
      transaction.deleteAddress({ kind: "auditEntry", id }, [], lists);
    }
    return { deleted: old.length, hasMore: page.hasMore && old.length === page.found.length };
  });
  return answer;
}
