import { listAuditEventsInput, pruneAuditEventsInput } from "@latchkey/core";
import { onAudit } from "../auth/required-permissions.js";
import { auditEventList, prunedEntries } from "../response-schemas/audit-log.js";
import { EVENT_ID, KEY_ID, ROOT_KEY_ID, START } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

/** What is done with the audit log. */
export const AUDIT_LOG: readonly Operation[] = [
  defineOperation({
    name: "audit.listAuditEvents",
    method: "GET",
    summary: "List who changed what",
    description:
      "Every change of the configuration, the latest first; or those that concern one key or identity, or that " +
      "one actor made: at most one of `keyId`, `identityId` and `actor`.",
    input: listAuditEventsInput,
    query: { limit: "integer" },
    answers: auditEventList,
    refusals: [],
    example: {
      takes: { keyId: KEY_ID, limit: 10 },
      answers: {
        events: [
          {
            id: EVENT_ID,
            type: "key.updated",
            workspaceId: "ws_default",
            at: START,
            actor: ROOT_KEY_ID,
            resourceId: KEY_ID,
            keyId: KEY_ID,
            changes: [{ field: "enabled", before: true, after: false }],
          },
        ],
      },
    },
    requiredPermissions: () => onAudit("read_audit"),
    run: ({ latchkey }, input) => latchkey.listAuditEvents(input),
  }),
  defineOperation({
    name: "audit.pruneAuditEvents",
    method: "POST",
    summary: "Forget old entries of the audit log",
    description:
      "Entries that were written before an instant are gone for good, and none is left of that: give " +
      "`audit.*.delete_audit` to nobody who is to be held to account.",
    input: pruneAuditEventsInput,
    answers: prunedEntries,
    refusals: [],
    example: { takes: { before: START }, answers: { deleted: 1_204 } },
    requiredPermissions: () => onAudit("delete_audit"),
    run: ({ latchkey }, input) => latchkey.pruneAuditEvents(input),
  }),
];
