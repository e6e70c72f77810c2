import { CHANGE_TYPES } from "@latchkey/core";
import { z } from "zod";
import { instant, listOf, shared, whole } from "./shared.js";

const fieldChange = z.strictObject({
  field: z.string(),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
});

const auditEvent = shared(
  "AuditEvent",
  z.strictObject({
    id: z.string(),
    type: z.enum(CHANGE_TYPES),
    workspaceId: z.string(),
    at: instant,
    actor: z.string().optional(),
    resourceId: z.string(),
    keyId: z.string().optional(),
    identityId: z.string().optional(),
    changes: listOf(fieldChange),
  }),
);

/** Answer of audit.listAuditEvents: a page, the latest first. */
export const auditEventList = z.strictObject({
  events: listOf(auditEvent),
  cursor: z.string().optional(),
});

/** Answer of what forgets. */
export const prunedEntries = z.strictObject({ deleted: whole() });
