import type { AuditEvent } from "../../audit/event.js";
import type { PageInput } from "../input.js";
import type { PageInfo } from "../read.js";

/** A page of the audit log, the latest entry first; without `cursor` it is the last one. */
export interface AuditEventList extends PageInfo {
  /** The latest first. */
  readonly events: readonly AuditEvent[];
}

/** What pruning has deleted. */
export interface PrunedCount {
  /** How many entries or counters this call deleted. */
  readonly deleted: number;
}

/** Operations on the audit log. */
export interface AuditOperations {
  /**
   * Lists what was changed in the workspace, by whom, and how: all of it, or what concerns one key or identity, or what one
   * actor did. An id that nothing is known of is an empty list: entries outlive what they are about. A page at a time;
   * `auditEvents()` of a latchkey goes through all of them.
   *
   * @param input - At most one of `keyId`, `identityId` and `actor`.
   * @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list.
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
   * Deletes the entries of the audit log that were written before an instant; one written at the instant itself stays. It works
   * in bounded steps: while it runs, other calls get through. It leaves no entry of its own.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * await latchkey.pruneAuditEvents({ before: latchkey.now() - 400 * 86_400_000 });
   */
  pruneAuditEvents(input: {
    /** An instant, Unix epoch ms or a `Date`, not later than now: entries that were written earlier are deleted. */
    readonly before: number | Date;
  }): Promise<PrunedCount>;
}
