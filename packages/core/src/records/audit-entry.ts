import type { JsonValue } from "../lib/json.js";
import type { EpochMs } from "../time.js";
import { defineRecord, type RecordHead } from "./record-type.js";

/** Types of audit entries and their events: every change of configuration, and what `notice` writes. */
export const AUDIT_TYPES = [
  "api.created",
  "api.updated",
  "api.deleted",
  "key.created",
  "key.updated",
  "key.rotated",
  "key.deleted",
  "key.leaked",
  "key.expiresSoon",
  "key.hasExpired",
  "uses.low",
  "uses.gone",
  "limit.near",
  "identity.created",
  "identity.updated",
  "identity.deleted",
  "identity.erased",
  "permission.created",
  "permission.deleted",
  "role.created",
  "role.updated",
  "role.deleted",
  "root_key.created",
  "root_key.updated",
  "root_key.rotated",
  "root_key.revoked",
  "root_key.leaked",
  "ratelimit.reset",
  "workspace.created",
  "workspace.updated",
  "workspace.enabled",
  "workspace.disabled",
  "workspace.deleted",
] as const;

/** One kind of {@link AUDIT_TYPES}. */
export type AuditType = (typeof AUDIT_TYPES)[number];

/** One changed field. */
export interface FieldChange {
  /** Name of the field, as in inputs. */
  readonly field: string;
  /** Absent: it had no value. */
  readonly before?: JsonValue;
  /** Absent: it has no value any more. */
  readonly after?: JsonValue;
}

/** Who changed what, when, and how: one entry of the audit log. Never holds a secret, a hash or an encrypted secret. */
export interface AuditEntry extends RecordHead {
  readonly type: AuditType;
  readonly at: EpochMs;
  /** Who made the change: a root key's id, or the actor that the host names; null if unknown. */
  readonly actor: string | null;
  /** Id of what was changed: the key, the API, the identity … */
  readonly resourceId: string;
  /** The key that it concerns, or null. */
  readonly keyId: string | null;
  /** The identity that it concerns, or null. */
  readonly identityId: string | null;
  /** Whether something was damaged: then the fields do not say what was there before. */
  readonly unreadable: boolean;
  /** Whether its names and texts were overwritten, because the identity that they belong to was erased. */
  readonly erased: boolean;
  /** For a leak report: the mark that leads from the secret to the entry. Null for all others. See {@link leakList}. */
  readonly leakMark: string | null;
  /** Each field once: those that have a value after the change, then those that have none any more. */
  readonly fields: readonly FieldChange[];
}

/**
 * Names of the small lists that an entry is in: for the key, the identity, the actor and the leak that it names. The id of a key or an
 * identity is a list name without a prefix, because there are many entries. No id contains a colon.
 */
export function smallListsOf(
  entry: {
    readonly [Field in "keyId" | "identityId" | "actor" | "leakMark"]?: string | null | undefined;
  },
): string[] {
  const { keyId, identityId, actor, leakMark } = entry;
  const lists: string[] = [];
  if (keyId != null) lists.push(keyId);
  if (identityId != null) lists.push(identityId);
  if (actor != null) lists.push(`actor:${actor}`);
  if (leakMark != null) lists.push(leakList(leakMark));
  return lists;
}

/**
 * The small list of leak reports of one secret, so that they are found even when its key is deleted.
 *
 * @param mark - A hash of the secret after a fixed word, under the pepper if there is one: not the hash that keys are found by.
 */
export function leakList(mark: string): string {
  return `leak:${mark}`;
}

/**
 * Entries of the audit log. They are a large part of what is stored for a key, so they are compact: one object with the values before the
 * change, one with those after it. The resource is left out if it is the key or, without a key, the identity.
 */
export const auditEntryType = defineRecord<AuditEntry>({
  kind: "auditEntry",
  // The store numbers entries, so that events can be read in the order of commits. Entries from before there were numbers have 1.
  version: () => 0,
  write: (entry) => ({
    type: entry.type,
    at: entry.at,
    actor: entry.actor,
    resourceId:
      entry.resourceId === (entry.keyId ?? entry.identityId) ? undefined : entry.resourceId,
    keyId: entry.keyId,
    identityId: entry.identityId,
    unreadable: entry.unreadable || undefined,
    erased: entry.erased || undefined,
    leakMark: entry.leakMark,
    before: writeSide(entry.fields, "before"),
    after: writeSide(entry.fields, "after"),
  }),
  read: (body, { id, workspaceId }) => {
    const keyId = body.textOrNull("keyId");
    const identityId = body.textOrNull("identityId");
    return {
      id,
      workspaceId,
      type: body.word("type", AUDIT_TYPES),
      at: body.whole("at"),
      actor: body.textOrNull("actor"),
      resourceId: body.textOrNull("resourceId") ?? keyId ?? identityId ?? body.text("resourceId"),
      keyId,
      identityId,
      unreadable: body.flag("unreadable"),
      erased: body.flag("erased"),
      leakMark: body.textOrNull("leakMark"),
      fields: readFields(body.jsonOrNull("before") ?? {}, body.jsonOrNull("after") ?? {}),
    };
  },
  smallLists: smallListsOf,
});

function writeSide(fields: readonly FieldChange[], side: "before" | "after") {
  let values: Record<string, JsonValue> | undefined;
  for (const { field, [side]: value } of fields) {
    if (value === undefined) continue;
    values ??= {};
    values[field] = value;
  }
  return values;
}

type Side = { readonly [field: string]: JsonValue };

function readFields(before: Side, after: Side): readonly FieldChange[] {
  const names = new Set([...Object.keys(after), ...Object.keys(before)]);
  const fields = Array.from(names, (field): FieldChange => {
    // A field may have the name of an inherited member.
    const [was, is] = [before, after].map((side) =>
      Object.hasOwn(side, field) ? side[field] : undefined,
    );
    return Object.freeze({
      field,
      ...(was !== undefined && { before: was }),
      ...(is !== undefined && { after: is }),
    });
  });
  return Object.freeze(fields);
}
