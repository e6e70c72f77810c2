import { z } from "zod";
import { type AuditEvent, toAuditEvent } from "../../audit/event.js";
import type { ListScope } from "../../lib/cursor.js";
import { AUDIT_LIST, auditEntryType, auditListOf } from "../../records/audit-entry.js";
import { afterCursor, type OperationContext } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import type { PageInput } from "../input.js";
import { cursor, evenWithIssues, id, pageLimit, parseInput, text } from "../input.js";
import { type PageInfo, pageInfo } from "../read-page.js";

/** Input of listAuditEvents: at most one of `keyId`, `identityId` and `actor`. */
export interface ListAuditEventsInput extends PageInput {
  /** Only what concerns this key. */
  readonly keyId?: string | undefined;
  /** Only what concerns this identity. */
  readonly identityId?: string | undefined;
  /** Only what this actor did: 1 to 256 characters. */
  readonly actor?: string | undefined;
}

/** Schema of the input of listAuditEvents. */
export const listAuditEventsInput = z
  .strictObject({
    limit: pageLimit,
    cursor: cursor.optional(),
    keyId: id.optional(),
    identityId: id.optional(),
    actor: text(1, 256).optional(),
  })
  .refine((filters) => namesOfFilters(filters).length <= 1, {
    ...evenWithIssues,
    error: "at most one of keyId, identityId and actor may be given",
  });

/** A page of the audit log, the latest entry first; without `cursor` it is the last one. */
export interface AuditEventList extends PageInfo {
  /** The latest first. */
  readonly events: readonly AuditEvent[];
}

/** @see AuditOperations.listAuditEvents */
export async function listAuditEvents(
  context: OperationContext,
  input: ListAuditEventsInput = {},
): Promise<AuditEventList> {
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
}

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
