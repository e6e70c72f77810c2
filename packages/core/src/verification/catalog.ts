import { LatchkeyError } from "../errors.js";
import type { RoleRecord } from "../records/role.js";
import type { KeyStore, LoadedRecord } from "../store/key-store.js";
import type { CatalogKey, NamedGrant } from "./loaded-key.js";
import {
  emptySnapshot,
  learn,
  loadKey,
  missingIn,
  namedGrants,
  type SharedRecord,
  type Snapshot,
  sharedBy,
} from "./snapshot.js";

/** Most workspaces that are cached, and most records of one kind per workspace. */
const MAX_WORKSPACES = 1_000;
const MAX_RECORDS = 20_000;

/** Records read at once. */
const MAX_WANTS = 5_000;

/**
 * Caches what many keys share: the workspace, APIs, roles and permissions, at one revision. Every change to one of them makes a new
 * revision, so what is cached for a revision never goes stale. `charge` checks whether that revision is still the current one.
 */
export class Catalog {
  readonly #store: Pick<KeyStore, "read">;
  readonly #snapshots = new Map<string, Snapshot>();

  constructor(store: Pick<KeyStore, "read">) {
    this.#store = store;
  }

  /**
   * Assembles keys that were read at a revision; null if that is no longer current: read them again. Synchronous if all that they refer to
   * is known.
   */
  loadKeys(
    workspaceId: string,
    revision: number,
    found: readonly LoadedRecord[],
  ): readonly CatalogKey[] | null | Promise<readonly CatalogKey[] | null> {
    const snapshot = this.#snapshots.get(workspaceId);
    if (snapshot?.revision !== revision || !snapshot.workspace.has(workspaceId))
      return this.#loadMissing(workspaceId, revision, found);
    const keys: CatalogKey[] = [];
    for (const loaded of found) {
      const key = loadKey(snapshot, workspaceId, loaded, false);
      if (key === undefined) return this.#loadMissing(workspaceId, revision, found);
      keys.push(key);
    }
    return keys;
  }

  async #loadMissing(
    workspaceId: string,
    revision: number,
    found: readonly LoadedRecord[],
  ): Promise<readonly CatalogKey[] | null> {
    this.#dropIfLarge(workspaceId);
    const snapshot = await this.#complete(workspaceId, revision, [
      { kind: "workspace", id: workspaceId },
      ...sharedBy(workspaceId, found),
    ]);
    if (snapshot === null) return null;
    return found.map((loaded) => loadKey(snapshot, workspaceId, loaded, true) ?? null);
  }

  /** The permissions of roles that were read at a revision, by name. Null as above. */
  async loadRoles(
    workspaceId: string,
    revision: number,
    roles: readonly RoleRecord[],
  ): Promise<readonly (readonly NamedGrant[])[] | null> {
    const wants = roles.flatMap(({ permissions }) =>
      permissions.map((id) => ({ kind: "permission", id }) as const),
    );
    const snapshot = await this.#complete(workspaceId, revision, wants);
    if (snapshot === null) return null;
    return roles.map(({ permissions }) => namedGrants(snapshot.permission, permissions));
  }

  /** Whether the workspace is disabled at a revision; false if its record is damaged, because then it is unknown. Null as above. */
  async isWorkspaceDisabled(workspaceId: string, revision: number): Promise<boolean | null> {
    const wants = [{ kind: "workspace", id: workspaceId }] as const;
    const snapshot = await this.#complete(workspaceId, revision, wants);
    if (snapshot === null) return null;
    const workspace = snapshot.workspace.get(workspaceId);
    return !(workspace instanceof LatchkeyError) && workspace?.enabled === false;
  }

  /**
   * Reads what is missing, at exactly this revision. Roles lead to permissions, so this may take two reads.
   *
   * Revisions have no order. A revision is cached once a read has returned it, so a late reply drops nothing.
   */
  async #complete(
    workspaceId: string,
    revision: number,
    wanted: readonly SharedRecord[],
  ): Promise<Snapshot | null> {
    // The same snapshot until the end, whatever is cached meanwhile, so each read brings it closer.
    const snapshot = this.#at(workspaceId, revision);
    for (;;) {
      const missing = missingIn(snapshot, wanted).slice(0, MAX_WANTS);
      if (missing.length === 0) return snapshot;
      const answer = await this.#store.read(workspaceId, missing);
      const isCurrent = answer.revision === revision;
      const current = isCurrent ? snapshot : this.#at(workspaceId, answer.revision);
      for (const each of new Set([current, this.#keep(workspaceId, current)]))
        learn(each, workspaceId, missing, answer.found);
      if (!isCurrent) return null;
    }
  }

  /** Called before keys are assembled, never during it: what was read for a page must stay until the page is done. */
  #dropIfLarge(workspaceId: string): void {
    const { api, role, permission } = this.#snapshots.get(workspaceId) ?? emptySnapshot(0);
    if (Math.max(api.size, role.size, permission.size) > MAX_RECORDS)
      this.#snapshots.delete(workspaceId);
  }

  /** The cached snapshot of a revision, or an empty one. */
  #at(workspaceId: string, revision: number): Snapshot {
    const kept = this.#snapshots.get(workspaceId);
    return kept?.revision === revision ? kept : emptySnapshot(revision);
  }

  /** Caches a snapshot, replacing one of another revision. @returns The cached snapshot of its revision. */
  #keep(workspaceId: string, snapshot: Snapshot): Snapshot {
    const kept = this.#snapshots.get(workspaceId);
    if (kept?.revision === snapshot.revision) return kept;
    // Callers choose workspace ids: these must not fill the memory of this process.
    if (kept === undefined && this.#snapshots.size >= MAX_WORKSPACES) this.#snapshots.clear();
    this.#snapshots.set(workspaceId, snapshot);
    return snapshot;
  }
}
