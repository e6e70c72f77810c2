import { corruptRecord, isCorruptRecord, LatchkeyError } from "../errors.js";
import { apiType } from "../records/api.js";
import { identityType } from "../records/identity.js";
import { type KeyRecord, keyType } from "../records/key.js";
import { permissionType } from "../records/permission.js";
import type { RecordType } from "../records/record-type.js";
import { type RoleRecord, roleType } from "../records/role.js";
import { unwrittenWorkspace, type WorkspaceRecord, workspaceType } from "../records/workspace.js";
import type { KeyStore, LoadedRecord, Want } from "../store/key-store.js";
import type { LoadedKey, NamedGrant, ResolvedGrants } from "./loaded-key.js";
import { known, knownGrants, namedGrants, resolvedGrants, type Snapshot } from "./snapshot.js";

/** Most workspaces of which anything is kept, and most records of one kind in a workspace. */
const MAX_WORKSPACES = 1_000;
const MAX_RECORDS = 20_000;

/** Records read at once. */
const MAX_WANTS = 5_000;

type SharedKind = "workspace" | "api" | "role" | "permission";

const TYPES: { readonly [Kind in SharedKind]: RecordType<unknown> } = {
  workspace: workspaceType,
  api: apiType,
  role: roleType,
  permission: permissionType,
};

/** A key that was put together, null where its API was deleted, or why it could not be read. */
export type CatalogKey = LoadedKey | null | LatchkeyError;

/**
 * Keeps what many keys share: the workspace, APIs, roles and permissions, of one revision. Every change to one of them brings another
 * revision, so what is kept of a revision never goes stale; whether that is still the current one is for `charge` to say.
 */
export class Catalog {
  readonly #store: Pick<KeyStore, "read">;
  readonly #snapshots = new Map<string, Snapshot>();

  constructor(store: Pick<KeyStore, "read">) {
    this.#store = store;
  }

  /**
   * Puts keys together that were read at a revision. Where all that they refer to is known, it answers at once.
   *
   * @returns One item for each record, or null where the revision has passed: read the records again.
   */
  loadKeys(
    workspaceId: string,
    revision: number,
    found: readonly LoadedRecord[],
  ): readonly CatalogKey[] | null | Promise<readonly CatalogKey[] | null> {
    const snapshot = this.#snapshots.get(workspaceId);
    const workspace = snapshot?.workspace.get(workspaceId);
    if (snapshot?.revision !== revision || workspace === undefined)
      return this.#loadMissing(workspaceId, revision, found);
    const keys: CatalogKey[] = [];
    for (const loaded of found) {
      const key = tryLoad(snapshot, loaded, workspaceId);
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
    const decoded = found.map(({ record }) => tryDecode(() => keyType.decode(record, workspaceId)));
    const wants: [SharedKind, string][] = [["workspace", workspaceId]];
    for (const key of decoded) {
      if (key instanceof LatchkeyError) continue;
      wants.push(["api", key.apiId]);
      for (const id of key.roles) wants.push(["role", id]);
      for (const id of key.permissions) wants.push(["permission", id]);
    }
    this.#dropIfLarge(workspaceId);
    const snapshot = await this.#complete(workspaceId, revision, wants);
    if (snapshot === null) return null;
    return decoded.map((key, index) => {
      if (key instanceof LatchkeyError) return key;
      return tryDecode(() => {
        const grants = resolvedGrants(snapshot, key.roles, key.permissions);
        return putTogether(snapshot, found[index] as LoadedRecord, key, grants);
      });
    });
  }

  /** The permissions of roles that were read at a revision, by name. Null as above. */
  async loadRoles(
    workspaceId: string,
    revision: number,
    roles: readonly RoleRecord[],
  ): Promise<readonly (readonly NamedGrant[])[] | null> {
    const wants = roles.flatMap(({ permissions }) =>
      permissions.map((id): [SharedKind, string] => ["permission", id]),
    );
    const snapshot = await this.#complete(workspaceId, revision, wants);
    if (snapshot === null) return null;
    return roles.map(({ permissions }) => namedGrants(snapshot.permission, permissions));
  }

  /**
   * Reads what is missing, at this very revision. Roles lead to permissions, so it may take two reads.
   *
   * No number tells which of two revisions is the later one: a revision is kept once a read has answered it, so that an answer that
   * came late drops nothing.
   */
  async #complete(
    workspaceId: string,
    revision: number,
    wanted: readonly [SharedKind, string][],
  ): Promise<Snapshot | null> {
    // The same until the end, whatever is kept meanwhile: so each read brings it closer.
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

  /** Before anything is put together, never while: what was read for one page must stay until the page is done. */
  #dropIfLarge(workspaceId: string): void {
    const snapshot = this.#snapshots.get(workspaceId);
    if (snapshot === undefined) return;
    const { api, role, permission } = snapshot;
    if (Math.max(api.size, role.size, permission.size) > MAX_RECORDS)
      this.#snapshots.delete(workspaceId);
  }

  /** What is kept of a revision, or else an empty snapshot. */
  #at(workspaceId: string, revision: number): Snapshot {
    const kept = this.#snapshots.get(workspaceId);
    if (kept?.revision === revision) return kept;
    return {
      revision,
      workspace: new Map(),
      api: new Map(),
      role: new Map(),
      permission: new Map(),
      grants: new Map(),
      latest: null,
    };
  }

  /** Keeps a snapshot in the place of one of another revision. @returns What is kept of its revision. */
  #keep(workspaceId: string, snapshot: Snapshot): Snapshot {
    const kept = this.#snapshots.get(workspaceId);
    if (kept?.revision === snapshot.revision) return kept;
    // Workspaces of a caller's choosing must not fill the memory of this process.
    if (kept === undefined && this.#snapshots.size >= MAX_WORKSPACES) this.#snapshots.clear();
    this.#snapshots.set(workspaceId, snapshot);
    return snapshot;
  }
}

function missingIn(
  snapshot: Snapshot,
  wanted: readonly [SharedKind, string][],
): readonly (Want & { readonly kind: SharedKind; readonly id: string })[] {
  const missing = new Map<string, { readonly kind: SharedKind; readonly id: string }>();
  const miss = (kind: SharedKind, id: string): void => {
    if (!snapshot[kind].has(id)) missing.set(`${kind} ${id}`, { kind, id });
  };
  for (const [kind, id] of wanted) {
    miss(kind, id);
    const role = kind === "role" ? snapshot.role.get(id) : null;
    if (role && !(role instanceof LatchkeyError))
      for (const permission of role.permissions) miss("permission", permission);
  }
  return [...missing.values()];
}

function learn(
  snapshot: Snapshot,
  workspaceId: string,
  wants: readonly { readonly kind: SharedKind; readonly id: string }[],
  found: readonly (LoadedRecord | null)[],
): void {
  wants.forEach(({ kind, id }, index) => {
    const loaded = found[index] ?? null;
    const records = snapshot[kind] as Map<string, unknown>;
    if (loaded !== null)
      records.set(
        id,
        tryDecode(() => TYPES[kind].decode(loaded.record, workspaceId)),
      );
    else records.set(id, kind === "workspace" ? unwrittenWorkspace(id) : null);
  });
}

/** A key of which all is known that it refers to; undefined where something is missing. */
function tryLoad(
  snapshot: Snapshot,
  loaded: LoadedRecord,
  workspaceId: string,
): CatalogKey | undefined {
  return tryDecode(() => {
    const key = keyType.decode(loaded.record, workspaceId);
    const api = snapshot.api.get(key.apiId);
    // Where grants were resolved before, all their roles and permissions are known.
    const grants = knownGrants(snapshot, key);
    if (api === undefined || grants === undefined) return undefined;
    return putTogether(snapshot, loaded, key, grants);
  });
}

/** What cannot be decoded is kept as the error that says so. */
function tryDecode<Value>(decode: () => Value): Value | LatchkeyError {
  try {
    return decode();
  } catch (error) {
    if (isCorruptRecord(error)) return error;
    throw error;
  }
}

function putTogether(
  snapshot: Snapshot,
  loaded: LoadedRecord,
  key: KeyRecord,
  grants: ResolvedGrants,
): LoadedKey | null {
  const api = known(snapshot.api, key.apiId);
  if (api === null) return null;
  if (loaded.usage === null) throw corruptRecord(`counter of key ${key.id}`);
  const { linked } = loaded;
  const identity = linked === null ? null : identityType.decode(linked.record, key.workspaceId);
  const { direct, roles, permissions, held } = grants;
  return {
    key,
    usage: loaded.usage,
    workspace: known(snapshot.workspace, key.workspaceId) as WorkspaceRecord,
    revision: snapshot.revision,
    api,
    identity,
    identityUsage: linked?.usage ?? null,
    direct,
    roles,
    permissions,
    held,
    lastUsedAt: loaded.usedAt,
    handle: loaded.handle,
    identityHandle: linked?.handle,
  };
}
