import type { ChangeFilter, ChangeLog, ChangeRecord, Removal } from "@latchkey/core";
import { frozenCopy } from "./frozen.js";
import { GroupedById } from "./grouped-by-id.js";
import { type Slice, SortedById } from "./sorted-by-id.js";

/** What a write made on demand, and what it linked instead. */
interface OnDemand {
  /** Ids of the identities, roles and permissions that were made. */
  readonly created?: readonly string[];
  /** The id of the identity that was linked, for each that was to be made and was not. */
  readonly linked?: ReadonlyMap<string, string> | undefined;
}

/** The kinds of answers of writes that changed something. */
const WRITTEN: ReadonlySet<string> = new Set(["inserted", "updated", "deleted", "rotated"]);

type WriteResult = string | { readonly kind: string };

/** The audit logs of all workspaces. */
export class ChangeLogs {
  readonly #byWorkspace = new Map<string, WorkspaceChanges>();

  /** Writes the entries that hold, if the answer of a write is that it changed something; answers the same. */
  follow<Result extends WriteResult>(
    result: Result,
    log: ChangeLog,
    { created = [], linked }: OnDemand = {},
  ): Result {
    if (!WRITTEN.has(typeof result === "string" ? result : result.kind)) return result;
    for (const { change, ifCreated } of log) {
      if (ifCreated && !created.includes(change.resourceId)) continue;
      const { workspaceId, identityId } = change;
      const linkedId = identityId === null ? undefined : linked?.get(identityId);
      const entry = linkedId === undefined ? change : { ...change, identityId: linkedId };
      this.#changesOf(workspaceId).add(frozenCopy(entry));
    }
    return result;
  }

  /** Up to `limit` entries with an id below `beforeId`, the latest first. */
  list(
    workspaceId: string,
    filter: ChangeFilter,
    beforeId: string | null,
    limit: number,
  ): Slice<ChangeRecord> {
    const changes = this.#byWorkspace.get(workspaceId);
    return changes?.list(filter, beforeId, limit) ?? { items: [], hasMore: false };
  }

  /** Forgets up to `limit` entries with an id below `beforeId`, the oldest first. */
  delete(workspaceId: string, beforeId: string, limit: number): Removal {
    return (
      this.#byWorkspace.get(workspaceId)?.delete(beforeId, limit) ?? { deleted: 0, hasMore: false }
    );
  }

  clear(): void {
    this.#byWorkspace.clear();
  }

  #changesOf(workspaceId: string): WorkspaceChanges {
    const known = this.#byWorkspace.get(workspaceId);
    if (known !== undefined) return known;
    const changes = new WorkspaceChanges();
    this.#byWorkspace.set(workspaceId, changes);
    return changes;
  }
}

/** The entries of one workspace, found by all that a filter may ask for. */
class WorkspaceChanges {
  readonly #all = new SortedById<ChangeRecord>();
  readonly #byKey = new GroupedById<ChangeRecord>();
  readonly #byIdentity = new GroupedById<ChangeRecord>();
  readonly #byActor = new GroupedById<ChangeRecord>();

  add(change: ChangeRecord): void {
    const { keyId, identityId, actor } = change;
    this.#all.add(change);
    if (keyId !== null) this.#byKey.add(keyId, change);
    if (identityId !== null) this.#byIdentity.add(identityId, change);
    if (actor !== null) this.#byActor.add(actor, change);
  }

  list(filter: ChangeFilter, beforeId: string | null, limit: number): Slice<ChangeRecord> {
    switch (filter.kind) {
      case "all":
        return this.#all.pageBack(beforeId, limit);
      case "key":
        return this.#byKey.pageBack(filter.keyId, beforeId, limit);
      case "identity":
        return this.#byIdentity.pageBack(filter.identityId, beforeId, limit);
      case "actor":
        return this.#byActor.pageBack(filter.actor, beforeId, limit);
      default:
        return filter satisfies never;
    }
  }

  delete(beforeId: string, limit: number): Removal {
    const { items } = this.#all.page(null, limit + 1);
    const old = items.filter(({ id }) => id < beforeId);
    const deleted = old.slice(0, limit);
    for (const change of deleted) this.#remove(change);
    return { deleted: deleted.length, hasMore: old.length > limit };
  }

  #remove(change: ChangeRecord): void {
    const { keyId, identityId, actor } = change;
    this.#all.remove(change);
    if (keyId !== null) this.#byKey.remove(keyId, change);
    if (identityId !== null) this.#byIdentity.remove(identityId, change);
    if (actor !== null) this.#byActor.remove(actor, change);
  }
}
