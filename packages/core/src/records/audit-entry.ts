import type { JsonValue } from "../lib/json.js";
import type { EpochMs } from "../time.js";
import { defineRecord, type RecordList, unlessEmpty } from "./record-type.js";

/** Every kind of configuration change: what was changed, and how. Events have the same names. */
export const AUDIT_TYPES = [
  "api.created",
  "api.updated",
  "api.deleted",
  "key.created",
  "key.updated",
  "key.rotated",
  "key.deleted",
  "identity.created",
  "identity.updated",
  "identity.deleted",
  "permission.created",
  "permission.deleted",
  "role.created",
  "role.updated",
  "role.deleted",
  "root_key.created",
  "root_key.revoked",
  "ratelimit.reset",
  "workspace.created",
  "workspace.enabled",
  "workspace.disabled",
] as const;

/** One kind of {@link AUDIT_TYPES}. */
export type AuditType = (typeof AUDIT_TYPES)[number];

/** One field that a change touched, in the words of the HTTP contract. Absent on a side where it had no value. */
export interface FieldChange {
  readonly field: string;
  readonly before?: JsonValue;
  readonly after?: JsonValue;
}

/** Who changed what, when, and how: one entry of the audit log. Never holds a secret, a hash or an encrypted secret. */
export interface AuditEntry {
  /** `evt_…`; in ascending order of id is in the order of time. */
  readonly id: string;
  readonly workspaceId: string;
  readonly type: AuditType;
  readonly at: EpochMs;
  /** Who made it, as the caller named itself: a root key's id, or what the host says; null for nobody in particular. */
  readonly actor: string | null;
  /** Id of what was changed: the key, the API, the identity … */
  readonly resourceId: string;
  /** The key that it concerns, or null. */
  readonly keyId: string | null;
  /** The identity that it concerns, or null. */
  readonly identityId: string | null;
  readonly fields: readonly FieldChange[];
}

/** The list of all entries. The entries of one key, identity or actor are small lists beside it. */
export const AUDIT_LIST = "audit";

/** Names of the small lists beside {@link AUDIT_LIST}. */
export const auditListOf = {
  key: (keyId: string) => `k:${keyId}`,
  identity: (identityId: string) => `i:${identityId}`,
  actor: (actor: string) => `a:${actor}`,
} as const;

/**
 * Entries of the audit log. They are half of all that is stored of a key, so they are kept compact: a change is
 * `[field, before, after]`, and the id of the key or identity is left out where it is that of the resource.
 */
export const auditEntryType = defineRecord<AuditEntry>({
  kind: "auditEntry",
  write: ({ type, at, actor, resourceId, keyId, identityId, fields }) => ({
    type,
    at,
    actor,
    resourceId,
    keyId: keyId === resourceId ? undefined : keyId,
    identityId: identityId === resourceId ? undefined : identityId,
    changes: unlessEmpty(fields.map(writeChange)),
  }),
  read: (body, { id, workspaceId }) => {
    const type = body.word("type", AUDIT_TYPES);
    const resourceId = body.text("resourceId");
    return {
      id,
      workspaceId,
      type,
      at: body.whole("at"),
      actor: body.textOrNull("actor"),
      resourceId,
      keyId: body.textOrNull("keyId") ?? (resourceId.startsWith("key_") ? resourceId : null),
      identityId:
        body.textOrNull("identityId") ?? (resourceId.startsWith("id_") ? resourceId : null),
      fields: Object.freeze(body.values("changes").map(readChange)),
    };
  },
  lists: (entry) => auditLists(entry),
});

function auditLists({ keyId, identityId, actor }: AuditEntry): readonly RecordList[] {
  const lists: RecordList[] = [{ list: AUDIT_LIST }];
  if (keyId !== null) lists.push({ list: AUDIT_LIST, of: auditListOf.key(keyId) });
  if (identityId !== null) lists.push({ list: AUDIT_LIST, of: auditListOf.identity(identityId) });
  if (actor !== null) lists.push({ list: AUDIT_LIST, of: auditListOf.actor(actor) });
  return lists;
}

function writeChange({ field, before = null, after = null }: FieldChange): JsonValue {
  return before === null
    ? [field, null, after]
    : after === null
      ? [field, before]
      : [field, before, after];
}

function readChange(change: JsonValue): FieldChange {
  if (!Array.isArray(change) || change.length < 2 || change.length > 3)
    throw new TypeError('the stored "changes" are not what was written');
  const [field, before, after = null] = change as readonly JsonValue[];
  if (typeof field !== "string")
    throw new TypeError('the stored "changes" are not what was written');
  return Object.freeze({
    field,
    ...(before !== null && before !== undefined && { before }),
    ...(after !== null && { after }),
  });
}
