import { z } from "zod";
import { toAuditEvent } from "../../audit/event.js";
import type { ListScope } from "../../lib/cursor.js";
import { lowestIdAt } from "../../lib/id.js";
import { AUDIT_LIST, auditEntryType, auditListOf } from "../../records/audit-entry.js";
import type { DeletedCount } from "../../store/statistics.js";
import { afterCursor, type OperationContext } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { DELETED_AT_ONCE, deleteInBatches } from "../delete-in-batches.js";
import { evenWithIssues, id, pageFields, parseInput, text } from "../input.js";
import { pageInfo } from "../read.js";
import type { Run, TableOf } from "../run.js";
import { instant, notLaterThanNow } from "../time-input.js";
import type { AuditOperations } from "./operations.js";

const listAuditEventsInput = z
  .strictObject({
    ...pageFields,
    keyId: id.optional(),
    identityId: id.optional(),
    actor: text(1, 256).optional(),
  })
  .refine((filters) => namesOfFilters(filters).length <= 1, {
    ...evenWithIssues,
    error: "at most one of keyId, identityId and actor may be given",
  });

const pruneAuditEventsInput = z.strictObject({ before: instant(0) });

const listAuditEvents: Run<AuditOperations["listAuditEvents"]> = async (context, input = {}) => {
  const parsed = parseInput(listAuditEventsInput, input);
  const { store, workspaceId } = context;
  const scope: ListScope = { list: "audit-events", ownerId: workspaceId };
  const page = await store.page(workspaceId, {
    kind: "auditEntry",
    list: AUDIT_LIST,
    of: smallListOf(parsed),
    after: afterCursor(scope, parsed.cursor),
    limit: parsed.limit,
    descending: true,
  });
  const events = page.found.flatMap(({ record }) => {
    const entry = decodeOrNull(auditEntryType, record, workspaceId);
    return entry === null ? [] : [toAuditEvent(entry)];
  });
  return { events, ...pageInfo(scope, page, page.found.length - events.length) };
};

function smallListOf({
  keyId,
  identityId,
  actor,
}: z.output<typeof listAuditEventsInput>): string | undefined {
  if (keyId !== undefined) return auditListOf.key(keyId);
  if (identityId !== undefined) return auditListOf.identity(identityId);
  return actor === undefined ? undefined : auditListOf.actor(actor);
}

function namesOfFilters(filters: Readonly<Record<string, unknown>>): readonly string[] {
  return ["keyId", "identityId", "actor"].filter((name) => filters[name] !== undefined);
}

const pruneAuditEvents: Run<AuditOperations["pruneAuditEvents"]> = async (context, input) => {
  const now = context.now();
  const { before } = parseInput(pruneAuditEventsInput, input, (raw) =>
    notLaterThanNow(raw, "before", now),
  );
  const beforeId = lowestIdAt("evt", before);
  return deleteInBatches(context.timer, DELETED_AT_ONCE, (limit) =>
    deleteBefore(context, beforeId, limit),
  );
};

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

/** How {@link AuditOperations} run. */
export const AUDIT_TABLE = {
  listAuditEvents: { run: listAuditEvents, input: listAuditEventsInput },
  pruneAuditEvents: { run: pruneAuditEvents, input: pruneAuditEventsInput },
} satisfies TableOf<AuditOperations>;
