import type { GrantReference, IdentityRecord } from "@latchkey/core";

/** A role or a permission. */
export interface Named {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
}

export function isNamesake(one: Named, two: Named): boolean {
  return one.workspaceId === two.workspaceId && one.name === two.name;
}

export function isSameUser(one: IdentityRecord, two: IdentityRecord): boolean {
  return one.workspaceId === two.workspaceId && one.externalId === two.externalId;
}

/** Ids of what the references stand for; of those that stand for nothing, none. */
export function idsOf(
  known: readonly Named[],
  workspaceId: string,
  references: readonly GrantReference<unknown>[],
) {
  const found = references.map((reference) => find(known, workspaceId, reference)?.id);
  return found.filter((id) => id !== undefined);
}

/** Names and ids that nothing goes by and that may not be created, each once, in the order asked. */
export function missingOf(
  known: readonly Named[],
  workspaceId: string,
  references: readonly GrantReference<unknown>[],
) {
  const missing = references
    .filter((reference) => reference.kind === "id" || reference.orCreate === null)
    .filter((reference) => find(known, workspaceId, reference) === undefined)
    .map((reference) => (reference.kind === "id" ? reference.id : reference.name));
  return [...new Set(missing)];
}

function find(
  known: readonly Named[],
  workspaceId: string,
  reference: GrantReference<unknown>,
): Named | undefined {
  return known.find(
    (item) =>
      item.workspaceId === workspaceId &&
      (reference.kind === "id" ? item.id === reference.id : item.name === reference.name),
  );
}
