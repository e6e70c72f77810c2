import type { IdFactory } from "../lib/id.js";
import type { AuditEntry, AuditType } from "../records/audit-entry.js";
import type { Clock, EpochMs } from "../time.js";
import { type AuditFields, fieldChanges } from "./diff.js";

/** One change of configuration, as an operation describes it. */
export interface ChangeDescription {
  readonly type: AuditType;
  /** Now unless given. */
  readonly at?: EpochMs;
  /** Id of what is changed. */
  readonly resourceId: string;
  /** The key that it concerns; what is changed, where that is a key. */
  readonly keyId?: string | null;
  /** The identity that it concerns; what is changed, where that is an identity. */
  readonly identityId?: string | null;
  /** Whether what there was before could not be read. */
  readonly unreadable?: boolean;
  /**
   * The fields that may have changed, before and after. Omitted: nothing before, or nothing after. The log may hold these and no
   * others, so `audit-fields.ts` of each resource lists them: never a secret, a hash or an encrypted secret.
   */
  readonly before?: AuditFields;
  readonly after?: AuditFields;
}

/** What an audit entry needs beside the change itself: its id, its time, its place and its author. */
export interface AuditContext {
  readonly newId: IdFactory;
  readonly now: Clock;
  readonly workspaceId: string;
  readonly actor: string | null;
}

const NO_FIELDS: AuditFields = {};

/** Whether an update sets what is there already: nothing is written then, and no version changes. */
export function changesNothing({ before, after }: ChangeDescription): boolean {
  return fieldChanges(before ?? NO_FIELDS, after ?? NO_FIELDS).length === 0;
}

/** Makes the audit entry of a change: only the fields that differ are in it. */
export function buildAuditEntry(context: AuditContext, change: ChangeDescription): AuditEntry {
  const { type, at = context.now(), resourceId, unreadable = false } = change;
  const { keyId = type.startsWith("key.") ? resourceId : null } = change;
  const { identityId = type.startsWith("identity.") ? resourceId : null } = change;
  return {
    id: context.newId("evt"),
    workspaceId: context.workspaceId,
    type,
    at,
    actor: context.actor,
    resourceId,
    keyId,
    identityId,
    unreadable,
    fields: fieldChanges(change.before ?? NO_FIELDS, change.after ?? NO_FIELDS),
  };
}
