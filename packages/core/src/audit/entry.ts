import type { OperationContext } from "../operations/context.js";
import {
  type ChangeLog,
  type ChangeType,
  type LoggedChange,
  NO_CHANGES,
} from "../records/audit-entry.js";
import type { EpochMs } from "../time.js";
import { type Facts, fieldChanges } from "./diff.js";
import { tell } from "./emitter.js";
import { toAuditEvent } from "./event.js";

/** One change of configuration, as an operation describes it. */
export interface ChangeNote {
  readonly type: ChangeType;
  readonly at: EpochMs;
  /** Id of what is changed. */
  readonly resourceId: string;
  readonly keyId?: string | null;
  readonly identityId?: string | null;
  /** The fields that may have changed, before and after. Omitted: nothing before, or nothing after. */
  readonly before?: Facts;
  readonly after?: Facts;
  /** Whether the resource is made on demand, only where it is missing. */
  readonly ifCreated?: boolean;
}

const NO_FACTS: Facts = {};

/** What it takes to write a change down: its number, its place and its author. */
export type Noting = Pick<OperationContext, "newId" | "workspaceId" | "actor">;

/** Writes a change as the log keeps it and as listeners hear of it. */
export function noteChange(context: Noting, note: ChangeNote): LoggedChange {
  const { type, at, resourceId, keyId = null, identityId = null } = note;
  return {
    change: {
      id: context.newId("evt"),
      workspaceId: context.workspaceId,
      type,
      at,
      actor: context.actor,
      resourceId,
      keyId,
      identityId,
      fields: fieldChanges(note.before ?? NO_FACTS, note.after ?? NO_FACTS),
    },
    ifCreated: note.ifCreated === true,
  };
}

/** What goes into the store along with the write: all of the changes, or nothing where the log is off. */
export function toLog(
  { keepsAuditLog }: Pick<OperationContext, "keepsAuditLog">,
  changes: ChangeLog,
): ChangeLog {
  return keepsAuditLog ? changes : NO_CHANGES;
}

/**
 * Tells the listener of changes that were written. Where an identity was to be made and an existing one was linked instead,
 * no `identityId` is told: only the store knows that one's.
 *
 * @param created - Ids of the records that were made on demand.
 */
export function announce(
  { onEvent }: Pick<OperationContext, "onEvent">,
  changes: ChangeLog,
  created: readonly string[] = [],
): void {
  if (onEvent === null) return;
  const isMissing = ({ change, ifCreated }: LoggedChange) =>
    ifCreated && !created.includes(change.resourceId);
  const notMade = changes.filter(isMissing).map(({ change }) => change.resourceId);
  for (const entry of changes) {
    if (isMissing(entry)) continue;
    const { change } = entry;
    const isLinked = change.identityId !== null && notMade.includes(change.identityId);
    tell(onEvent, toAuditEvent(isLinked ? { ...change, identityId: null } : change));
  }
}
