import { onWorkspace } from "../auth/required-permissions.js";
import { auditEventList, prunedEntries } from "../response-schemas/audit-log.js";
import { EVENT_ID, KEY_ID, ROOT_KEY_ID, START } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

/** Operations on the audit log. */
export const AUDIT_LOG: readonly Operation[] = [
  defineOperation("audit.listAuditEvents", {
    method: "GET",
    summary: "List the entries of the audit log",
    description:
      "Changes of the configuration, the latest first: all, or those of one key, of one identity or by one actor. " +
      "At most one of `keyId`, `identityId` and `actor`.",
    queryTypes: { limit: "integer" },
    response: auditEventList,
    example: {
      input: { keyId: KEY_ID, limit: 10 },
      response: {
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
    requiredPermissions: () => onWorkspace("audit", "read_audit"),
  }),
  defineOperation("audit.pruneAuditEvents", {
    summary: "Delete old entries of the audit log",
    description:
      "Deletes the entries from before an instant for good, and leaves no entry about that: do not grant " +
      "`audit.*.delete_audit` to anyone whom the log should hold to account.",
    response: prunedEntries,
    example: { input: { before: START }, response: { deleted: 1_204 } },
    requiredPermissions: () => onWorkspace("audit", "delete_audit"),
  }),
];
