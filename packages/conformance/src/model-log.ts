import type { ChangeFilter, ChangeLog, ChangeRecord } from "@latchkey/core";
import type { Model } from "./model-state.js";

/** What a write did that its log depends on. */
export interface Made {
  /** Ids of what was made on demand. */
  readonly created: readonly string[];
  /** Which identity was linked in place of a candidate, by the candidate's id. */
  readonly linked: ReadonlyMap<string, string>;
}

/** A write that makes nothing on demand. */
const NOTHING_MADE: Made = { created: [], linked: new Map() };

/** Writes the entries of a log that are to be written. */
export function note(model: Model, log: ChangeLog, { created, linked }: Made = NOTHING_MADE): void {
  for (const { change, ifCreated } of log) {
    if (ifCreated && !created.includes(change.resourceId)) continue;
    const { identityId } = change;
    const stored = identityId === null ? null : (linked.get(identityId) ?? identityId);
    model.changes.push({ ...change, identityId: stored });
  }
}

/** Mirrors `listChanges`. */
export function listChanges(
  model: Model,
  workspaceId: string,
  filter: ChangeFilter,
  { beforeId, limit }: { readonly beforeId: string | null; readonly limit: number },
) {
  const matching = model.changes
    .filter((change) => change.workspaceId === workspaceId && isWanted(change, filter))
    .filter(({ id }) => beforeId === null || id < beforeId)
    .sort((one, two) => (one.id > two.id ? -1 : 1));
  return { items: matching.slice(0, limit), hasMore: matching.length > limit };
}

/** Mirrors `deleteChanges`, called until there are no more. Answers how many there were. */
export function deleteChanges(model: Model, workspaceId: string, beforeId: string): number {
  const before = model.changes.length;
  model.changes = model.changes.filter(
    (change) => change.workspaceId !== workspaceId || change.id >= beforeId,
  );
  return before - model.changes.length;
}

function isWanted(change: ChangeRecord, filter: ChangeFilter): boolean {
  switch (filter.kind) {
    case "all":
      return true;
    case "key":
      return change.keyId === filter.keyId;
    case "identity":
      return change.identityId === filter.identityId;
    case "actor":
      return change.actor === filter.actor;
    default:
      return filter satisfies never;
  }
}
