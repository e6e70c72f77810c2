import type { IdFactory } from "../lib/id.js";
import type { JsonValue } from "../lib/json.js";
import { withoutNull } from "../lib/without-null.js";
import type { AuditEntry, AuditType, FieldChange } from "../records/audit-entry.js";
import { withoutLater } from "../records/record-type.js";
import type { Clock, EpochMs } from "../time.js";

/** One change of configuration, as an operation describes it. */
export interface ChangeDescription {
  readonly type: AuditType;
  /** Default: now. */
  readonly at?: EpochMs;
  readonly resourceId: string;
  /** The key that it concerns. Default: the changed record, if that is a key. */
  readonly keyId?: string | null;
  /** The identity that it concerns. Default: the changed record, if that is an identity. */
  readonly identityId?: string | null;
  /** Whether the state before the change could not be read. */
  readonly unreadable?: boolean;
  /** For the report of a leak: the mark that leads from the secret to the entry. */
  readonly leakMark?: string;
  /**
   * The fields that may have changed, before and after. Omitted: nothing before, or nothing after. The log may hold these and no
   * others, so `audit-fields.ts` of each resource lists them: never a secret, a hash or an encrypted secret.
   */
  readonly before?: AuditFields;
  readonly after?: AuditFields;
}

/** What an audit entry needs beside the change: its id, time, workspace and actor. */
export interface AuditContext {
  readonly newId: IdFactory;
  readonly now: Clock;
  readonly workspaceId: string;
  readonly actor: string | null;
}

const NO_FIELDS: AuditFields = {};

/** Whether an update changes nothing: then nothing is written, and no version changes. */
export function changesNothing({ before, after }: ChangeDescription): boolean {
  return fieldChanges(before ?? NO_FIELDS, after ?? NO_FIELDS).length === 0;
}

/** Makes the audit entry of a change, with only the fields that differ. */
export function buildAuditEntry(context: AuditContext, change: ChangeDescription): AuditEntry {
  const { type, at = context.now(), resourceId, unreadable = false, leakMark = null } = change;
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
    erased: false,
    leakMark,
    fields: fieldChanges(change.before ?? NO_FIELDS, change.after ?? NO_FIELDS),
  };
}

/** Fields of a record in the words of the HTTP contract. Undefined and null both mean that a field has no value. */
export type AuditFields = Readonly<Record<string, JsonValue | undefined>>;

/** The differences between two states: first fields with a value in the later state, in its order, then fields that lost their value. */
export function fieldChanges(before: AuditFields, after: AuditFields): readonly FieldChange[] {
  const changes: FieldChange[] = [];
  for (const field of Object.keys(after)) {
    const [was, is] = [before[field] ?? null, after[field] ?? null];
    if (is === null || isSameJson(was, is)) continue;
    changes.push(was === null ? { field, after: is } : { field, before: was, after: is });
  }
  for (const field of Object.keys(before)) {
    const was = before[field] ?? null;
    if (was !== null && (after[field] ?? null) === null) changes.push({ field, before: was });
  }
  return changes;
}

/** Whether two JSON values are equal. The order of an object's fields does not matter; the order of a list does. */
function isSameJson(one: JsonValue, other: JsonValue): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null)
    return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every(
    (name) => Object.hasOwn(other, name) && isSameJson(member(one, name), member(other, name)),
  );
}

function member(value: object, name: string): JsonValue {
  return (value as Record<string, JsonValue>)[name] as JsonValue;
}

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

export function toAuditEvent(entry: AuditEntry): AuditEvent {
  const { id, type, workspaceId, at, actor, resourceId, keyId, identityId, fields } = entry;
  const about = { id, type, workspaceId, at, actor, resourceId, keyId, identityId };
  const [unreadable, erased] = [entry.unreadable || null, entry.erased || null];
  return withoutNull({ ...about, unreadable, erased, changes: fields });
}

/** Fields whose values are ids that latchkey made. */
const IDS: ReadonlySet<string> = new Set(["apiId", "rotatedFrom", "rotatedTo"]);

/**
 * An audit entry without a user's names, metadata and other texts, and without what only a later version knows. Ids, types, times and
 * numbers stay. `externalId`: null if unknown.
 */
export function erasedEntry(entry: AuditEntry, externalId: string | null): AuditEntry {
  const { actor, fields } = entry;
  return {
    ...withoutLater(entry),
    actor: actor === externalId ? null : actor,
    erased: true,
    fields: fields.filter(isHarmless),
  };
}

function isHarmless({ field, before, after }: FieldChange): boolean {
  return (
    IDS.has(field) ||
    [before, after].every(
      (value) => value === undefined || typeof value === "number" || typeof value === "boolean",
    )
  );
}

/** Whether an entry names an `externalId`: as the owner before or after a change, as the actor, or as whose limit without a key was reset. */
export function namesExternalId(entry: AuditEntry, externalId: string): boolean {
  const { type, actor, keyId, identityId, fields } = entry;
  const isOfNamespace = type === "ratelimit.reset" && keyId === null && identityId === null;
  const named = isOfNamespace ? "name" : "externalId";
  return (
    actor === externalId ||
    fields.some(
      ({ field, before, after }) =>
        field === named && (before === externalId || after === externalId),
    )
  );
}

/** The identity that has or had an `externalId` according to an entry; null for none. If a key changed owners, this is the new one. */
export function identityNamedBy(entry: AuditEntry, externalId: string): string | null {
  const owner = entry.fields.find(({ field }) => field === "externalId");
  return (owner?.after ?? owner?.before) === externalId ? entry.identityId : null;
}

/** The `externalId` that an identity has or had according to an entry; null for none. */
export function externalIdOf({ identityId, fields }: AuditEntry, id: string): string | null {
  const owner = identityId === id && fields.find(({ field }) => field === "externalId");
  const value = owner ? (owner.after ?? owner.before) : null;
  return typeof value === "string" ? value : null;
}
