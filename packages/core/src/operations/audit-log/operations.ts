import type { AuditEventList, ListAuditEventsInput } from "./list-audit-events.js";
import type { PruneAuditEventsInput, PrunedCount } from "./prune-audit-events.js";

/** Operations on the audit log. */
export interface AuditOperations {
  /**
   * Lists what was changed in the workspace, by whom, and how: all of it, or what concerns one key or identity, or what one
   * actor did. An id that nothing is known of is an empty list: entries outlive what they are about. A page at a time;
   * `auditEvents()` of a latchkey goes through all of them.
   *
   * @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list.
   * @example
   * const { events, cursor } = await latchkey.listAuditEvents({ keyId });
   */
  listAuditEvents(input?: ListAuditEventsInput): Promise<AuditEventList>;
  /**
   * Deletes the entries of the audit log that were written before an instant; one written at the instant itself stays. It works
   * in bounded steps: while it runs, other calls get through. It leaves no entry of its own.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * await latchkey.pruneAuditEvents({ before: latchkey.now() - 400 * 86_400_000 });
   */
  pruneAuditEvents(input: PruneAuditEventsInput): Promise<PrunedCount>;
}
