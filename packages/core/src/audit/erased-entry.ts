import type { AuditEntry, FieldChange } from "../records/audit-entry.js";

/** Fields whose values are ids that latchkey made. */
const IDS: ReadonlySet<string> = new Set(["apiId", "rotatedFrom", "rotatedTo"]);

/** An audit entry without a user's names, metadata and other texts. Ids, types, times and numbers stay. `externalId`: null if unknown. */
export function erasedEntry(entry: AuditEntry, externalId: string | null): AuditEntry {
  const { actor, fields } = entry;
  return {
    ...entry,
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

/** Whether an entry names an `externalId`, as the owner before or after a change, or as the actor. */
export function namesExternalId({ actor, fields }: AuditEntry, externalId: string): boolean {
  return (
    actor === externalId ||
    fields.some(
      ({ field, before, after }) =>
        field === "externalId" && (before === externalId || after === externalId),
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
