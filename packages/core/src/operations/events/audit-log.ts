import { z } from "zod";
import { type AuditEvent, toAuditEvent } from "../../audit/entry.js";
import { lowestIdAt } from "../../lib/id.js";
import { auditEntryType, smallListsOf } from "../../records/audit-entry.js";
import { type OperationContext, transact } from "../context.js";
import { deleteFound } from "../damaged.js";
import { DELETED_AT_ONCE, deleteInBatches } from "../delete-in-batches.js";
import {
  countGiven,
  evenWithIssues,
  id,
  optional,
  type PageInput,
  pageFields,
  text,
} from "../input.js";
import { operation, type TableOf } from "../operation.js";
import { type PageInfo, readList, readPage } from "../read.js";
import { pruneInput, pruneIssues } from "../time-input.js";

/** A page of the audit log. */
export interface AuditEventList extends PageInfo {
  /** The latest first. */
  readonly events: readonly AuditEvent[];
}

/** Result of pruning. */
export interface PrunedCount {
  /** How many entries or counts this call deleted. */
  readonly deleted: number;
}

export interface AuditOperations {
  /**
   * Lists the changes of the workspace, the latest first: all, those of one key or identity, or those of one actor. An unknown id gives an
   * empty list. A page at a time; `auditEvents()` iterates over all of them.
   *
   * @param input - At most one of `keyId`, `identityId` and `actor`. One that is undefined counts as absent: without any, all are listed.
   * @throws LatchkeyError `BAD_REQUEST` for an invalid cursor.
   * @example
   * const { events, cursor } = await latchkey.listAuditEvents({ keyId });
   */
  listAuditEvents(
    input?: PageInput & {
      /** Only what concerns this key. */
      readonly keyId?: string | undefined;
      /** Only what concerns this identity. */
      readonly identityId?: string | undefined;
      /** Only what this actor did: 1 to 256 characters. */
      readonly actor?: string | undefined;
    },
  ): Promise<AuditEventList>;
  /**
   * Deletes the entries of the audit log that were written before an instant, in bounded steps that do not hold up other calls. It writes
   * no entry itself.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * await latchkey.pruneAuditEvents({ before: latchkey.now() - 400 * 86_400_000 });
   */
  pruneAuditEvents(input: {
    /** Unix epoch ms or a `Date`, not later than now. An entry of exactly this instant stays. */
    readonly before: number | Date;
  }): Promise<PrunedCount>;
}

const listAuditEventsInput = z
  .strictObject({
    ...pageFields,
    ...optional({ keyId: id, identityId: id, actor: text(1, 256) }),
  })
  .refine(({ keyId, identityId, actor }) => countGiven(keyId, identityId, actor) <= 1, {
    ...evenWithIssues,
    error: "at most one of keyId, identityId and actor may be given",
  });

export const AUDIT_TABLE = {
  listAuditEvents: operation(
    listAuditEventsInput,
    async (context, filter) => {
      const scope = { list: "audit-events", ownerId: context.workspaceId } as const;
      const want = { of: smallListsOf(filter)[0], descending: true };
      const { items, info } = await readPage(context, auditEntryType, scope, filter, want);
      return { events: items.map(toAuditEvent), ...info };
    },
    { omitted: {} },
  ),

  pruneAuditEvents: operation(
    pruneInput,
    (context, { before }) => {
      const beforeId = lowestIdAt("evt", before);
      return deleteInBatches(context, DELETED_AT_ONCE, (round, limit) =>
        deleteBefore(round, beforeId, limit),
      );
    },
    { issuesAt: pruneIssues },
  ),
} satisfies TableOf<AuditOperations>;

async function deleteBefore(context: OperationContext, beforeId: string, limit: number) {
  return transact(context, async ({ transaction }) => {
    const page = await readList(context, { kind: "auditEntry", limit });
    const old = page.found.filter(({ record }) => record.id < beforeId);
    deleteFound(transaction, auditEntryType, old);
    return { deleted: old.length, hasMore: page.hasMore && old.length === page.found.length };
  });
}
