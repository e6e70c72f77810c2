import type { AuditEntry, AuditType, FieldChange } from "../records/audit-entry.js";
import type { EpochMs } from "../time.js";

/** A change of configuration as events and the audit log show it. Fields without a value are absent. */
export interface AuditEvent {
  /** `evt_…`; ids ascend with time. */
  readonly id: string;
  /** What was changed, and how. */
  readonly type: AuditType;
  /** Id of the workspace. */
  readonly workspaceId: string;
  /** Unix epoch ms. */
  readonly at: EpochMs;
  /** Who made it: the name given to `actingAs`; over HTTP, the id of the root key. */
  readonly actor?: string;
  /** Id of what was changed. */
  readonly resourceId: string;
  /** The key that it concerns. */
  readonly keyId?: string;
  /** The identity that it concerns. */
  readonly identityId?: string;
  /** The record, or one that it refers to, was damaged: `changes` lacks the earlier values. */
  readonly unreadable?: true;
  /** The identity was erased: only ids, numbers and times are left of `changes`. */
  readonly erased?: true;
  /** Each changed field, before and after. Never a secret. */
  readonly changes: readonly FieldChange[];
}

/** Shows an entry of the log as an event. */
export function toAuditEvent(entry: AuditEntry): AuditEvent {
  const { id, type, workspaceId, at, actor, resourceId, keyId, identityId, fields } = entry;
  const { unreadable, erased } = entry;
  return {
    id,
    type,
    workspaceId,
    at,
    ...(actor !== null && { actor }),
    resourceId,
    ...(keyId !== null && { keyId }),
    ...(identityId !== null && { identityId }),
    ...(unreadable && { unreadable }),
    ...(erased && { erased }),
    changes: fields,
  };
}
