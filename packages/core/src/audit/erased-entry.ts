import type { AuditEntry, FieldChange } from "../records/audit-entry.js";

/** Fields whose values are ids that latchkey made. */
const IDS: ReadonlySet<string> = new Set(["apiId", "rotatedFrom", "rotatedTo"]);

/**
 * An entry of the audit log without what it says of somebody: names, metadata and every other text go. Ids, types, instants and numbers
 * stay, so that the log still says what happened and when. An actor whose name is the `externalId` is nobody in particular from then on.
 *
 * @param externalId - Of whoever is erased; null where it is not known.
 */
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

/** Whether an entry names an `externalId`: as that of the owner before or after a change, or as the actor. */
export function namesExternalId({ actor, fields }: AuditEntry, externalId: string): boolean {
  return (
    actor === externalId ||
    fields.some(
      ({ field, before, after }) =>
        field === "externalId" && (before === externalId || after === externalId),
    )
  );
}

/**
 * The identity that an entry shows to have, or to have had, an `externalId`; null for none. Of a key that was given to somebody else the
 * entry names the new owner.
 */
export function identityNamedBy(entry: AuditEntry, externalId: string): string | null {
  const owner = entry.fields.find(({ field }) => field === "externalId");
  return (owner?.after ?? owner?.before) === externalId ? entry.identityId : null;
}

/** The `externalId` that an entry shows an identity to have, or to have had; null for none. */
export function externalIdOf({ identityId, fields }: AuditEntry, id: string): string | null {
  const owner = identityId === id && fields.find(({ field }) => field === "externalId");
  const value = owner ? (owner.after ?? owner.before) : null;
  return typeof value === "string" ? value : null;
}
