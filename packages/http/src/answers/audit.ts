import { CHANGE_TYPES } from "@latchkey/core";
import { z } from "zod";
import { instant, listOf, shared, whole } from "./shared.js";

const fieldChange = z.strictObject({
  field: z.string().describe("Name of the field that changed."),
  before: z.unknown().optional().describe("Its value before; absent where it had none."),
  after: z.unknown().optional().describe("Its value since; absent where it has none."),
});

const auditEvent = shared(
  "AuditEvent",
  z.strictObject({
    id: z.string(),
    type: z.enum(CHANGE_TYPES).describe("What was done to what."),
    workspaceId: z.string(),
    at: instant.describe("Unix epoch ms."),
    actor: z
      .string()
      .optional()
      .describe("Who did it: the id of a root key, or what the host says."),
    resourceId: z.string().describe("Id of what was changed."),
    keyId: z.string().optional(),
    identityId: z.string().optional(),
    changes: listOf(fieldChange).describe("Every field that changed; never a secret."),
  }),
);

/** Answer of audit.listAuditEvents: a page, the latest first. */
export const auditEventList = z.strictObject({
  events: listOf(auditEvent),
  cursor: z.string().optional(),
});

/** Answer of what forgets. */
export const forgotten = z.strictObject({ deleted: whole().describe("How many were forgotten.") });
