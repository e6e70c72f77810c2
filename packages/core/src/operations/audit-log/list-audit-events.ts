import { z } from "zod";
import { type AuditEvent, toAuditEvent } from "../../audit/event.js";
import { encodeCursor, type ListScope } from "../../lib/cursor.js";
import type { ChangeFilter } from "../../records/audit-entry.js";
import { afterCursor, type OperationContext } from "../context.js";
import { cursor, evenWithIssues, id, pageLimit, parseInput, text } from "../input.js";

/** Input of listAuditEvents: at most one of `keyId`, `identityId` and `actor`. `limit` 1 to 100, 100 unless given. */
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
export interface AuditEventList {
  readonly events: readonly AuditEvent[];
  readonly cursor?: string;
}

/**
 * Lists what was changed in the workspace, by whom, and how: all of it, or what concerns one key or identity, or what one
 * actor did. An id that nothing is known of is an empty list: entries outlive what they are about.
 *
 * @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list.
 */
export async function listAuditEvents(
  context: OperationContext,
  input: z.input<typeof listAuditEventsInput> = {},
): Promise<AuditEventList> {
  const parsed = parseInput(listAuditEventsInput, input);
  const scope: ListScope = { list: "audit-events", ownerId: context.workspaceId };
  const page = await context.store.listChanges(context.workspaceId, filterOf(parsed), {
    beforeId: afterCursor(scope, parsed.cursor),
    limit: parsed.limit,
  });
  const last = page.items.at(-1);
  return {
    events: page.items.map(toAuditEvent),
    ...(page.hasMore && last !== undefined && { cursor: encodeCursor(scope, last.id) }),
  };
}

function filterOf({
  keyId,
  identityId,
  actor,
}: z.output<typeof listAuditEventsInput>): ChangeFilter {
  if (keyId !== undefined) return { kind: "key", keyId };
  if (identityId !== undefined) return { kind: "identity", identityId };
  if (actor !== undefined) return { kind: "actor", actor };
  return { kind: "all" };
}

function namesOfFilters(filters: Readonly<Record<string, unknown>>): readonly string[] {
  return ["keyId", "identityId", "actor"].filter((name) => filters[name] !== undefined);
}
