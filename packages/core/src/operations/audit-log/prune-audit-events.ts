import { z } from "zod";
import { lowestIdAt } from "../../lib/id.js";
import type { OperationContext } from "../context.js";
import { FORGOTTEN_AT_ONCE, removeAll } from "../delete-in-batches.js";
import { notLaterThanNow, parseInput, wholeNumber } from "../input.js";

/** Input of pruneAuditEvents. `before`: Unix epoch ms, not later than now. */
export const pruneAuditEventsInput = z.strictObject({ before: wholeNumber(0) });

/**
 * Forgets the entries of the audit log that were written before an instant; one written at the instant itself stays. It works
 * in bounded steps: while it runs, other calls get through. It leaves no entry of its own.
 *
 * @returns How many entries this call forgot.
 */
export async function pruneAuditEvents(
  context: OperationContext,
  input: z.input<typeof pruneAuditEventsInput>,
): Promise<{ readonly deleted: number }> {
  const { store, workspaceId } = context;
  const now = context.now();
  const { before } = parseInput(pruneAuditEventsInput, input, (raw) =>
    notLaterThanNow(raw, "before", now),
  );
  const beforeId = lowestIdAt("evt", before);
  return removeAll(FORGOTTEN_AT_ONCE, (limit) => store.deleteChanges(workspaceId, beforeId, limit));
}
