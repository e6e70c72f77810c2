import { AUDIT_TYPES } from "@latchkey/core";
import { z } from "zod";
import { instant, listOf, pageInfo, shared, whole } from "./shared.js";

const fieldChange = z.strictObject({
  field: z.string(),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
});

const auditEvent = shared(
  "AuditEvent",
  z.strictObject({
    id: z.string(),
    type: z.enum(AUDIT_TYPES),
    workspaceId: z.string(),
    at: instant,
    actor: z.string().optional(),
    resourceId: z.string(),
    keyId: z.string().optional(),
    identityId: z.string().optional(),
    unreadable: z.literal(true).optional(),
    erased: z.literal(true).optional(),
    changes: listOf(fieldChange),
  }),
);

/** Response of audit.listAuditEvents: a page, the latest first. */
export const auditEventList = z.strictObject({
  events: listOf(auditEvent),
  ...pageInfo,
});

/** Response of audit.pruneAuditEvents. */
export const prunedEntries = z.strictObject({ deleted: whole() });

/** Response of events.notice. */
export const noticedCount = z.strictObject({ noticed: whole(), cursor: z.string().optional() });

/** Response of events.readEvents: a page, the earliest first. */
export const eventPage = z.strictObject({
  events: listOf(auditEvent),
  cursor: z.string(),
  damaged: whole().optional(),
});
