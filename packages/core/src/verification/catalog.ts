import { corruptRecord, isCorruptRecord, LatchkeyError } from "../errors.js";
import type { JsonValue } from "../lib/json.js";
import { createLruCache } from "../lib/lru-cache.js";
import { type ApiRecord, apiType } from "../records/api.js";
import {
  type PermissionRecord,
  permissionType,
  type RoleRecord,
  roleType,
} from "../records/grants.js";
import { identityType } from "../records/identity.js";
import { type KeyRecord, keyType } from "../records/key.js";
import type { RecordType } from "../records/record-type.js";
import { unwrittenWorkspace, type WorkspaceRecord, workspaceType } from "../records/workspace.js";
import { belowCeiling } from "../rules/keys/ceilings.js";
import { HeldPermissions } from "../rules/permission.js";
import type { KeyStore, LoadedRecord } from "../store/key-store.js";
import type { CatalogKey, NamedGrant, ResolvedGrants } from "./loaded-key.js";

/** A record, null for none, or the error of a damaged one, which matters only if it is needed. */
type Known<Value> = Value | null | LatchkeyError;

/** What the keys of a workspace share, at one revision. */
export interface Snapshot {
  readonly revision: number;
  readonly workspace: Map<string, Known<WorkspaceRecord>>;
  readonly api: Map<string, Known<ApiRecord>>;
  readonly role: Map<string, Known<RoleRecord>>;
  readonly permission: Map<string, Known<PermissionRecord>>;
  /** Resolved grants, computed once for all keys with the same grants and the same ceiling on them. */
  readonly grants: Map<string, ResolvedGrants>;
  /** The grants that were looked up last. Without this field, a page of keys in memory takes 2.3 times as long. */
  latest: {
    readonly key: KeyRecord;
    readonly ceiling: JsonValue | undefined;
    readonly grants: ResolvedGrants;
  } | null;
}

export interface SharedRecord {
  readonly kind: "workspace" | "api" | "role" | "permission";
  readonly id: string;
}

const TYPES: { readonly [Kind in SharedRecord["kind"]]: RecordType<unknown> } = {
  workspace: workspaceType,
  api: apiType,
  role: roleType,
  permission: permissionType,
};

/** Most different sets of roles and permissions that are cached. */
const MAX_GRANT_SETS = 20_000;

/** A snapshot in which nothing is known yet. */
export function emptySnapshot(revision: number): Snapshot {
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

/** The records that a snapshot lacks: of `wanted`, and of the permissions of the roles in `wanted`. */
function missingIn(snapshot: Snapshot, wanted: readonly SharedRecord[]): readonly SharedRecord[] {
  const missing = new Map<string, SharedRecord>();
  const miss = ({ kind, id }: SharedRecord): void => {
    if (!snapshot[kind].has(id)) missing.set(`${kind} ${id}`, { kind, id });
  };
  for (const each of wanted) {
    miss(each);
    const role = each.kind === "role" ? snapshot.role.get(each.id) : null;
    if (role && !(role instanceof LatchkeyError))
      for (const id of role.permissions) miss({ kind: "permission", id });
  }
  return [...missing.values()];
}

/** Adds records that were read. `found`: in the order of `wants`. */
export function learn(
  snapshot: Snapshot,
  workspaceId: string,
  wants: readonly SharedRecord[],
  found: readonly (LoadedRecord | null)[],
): void {
  for (const [index, { kind, id }] of wants.entries()) {
    const loaded = found[index] ?? null;
    const absent = kind === "workspace" ? unwrittenWorkspace(id) : null;
    const value =
      loaded === null ? absent : tryRead(() => TYPES[kind].decode(loaded.record, workspaceId));
    (snapshot[kind] as Map<string, unknown>).set(id, value);
  }
}

/** The records that keys refer to. A damaged key refers to none. */
function sharedBy(workspaceId: string, found: readonly LoadedRecord[]): readonly SharedRecord[] {
  return found.flatMap(({ record }): readonly SharedRecord[] => {
    const key = tryRead(() => keyType.decode(record, workspaceId));
    if (key instanceof LatchkeyError) return [];
    return [
      { kind: "api", id: key.apiId },
      ...key.roles.map((id) => ({ kind: "role", id }) as const),
      ...key.permissions.map((id) => ({ kind: "permission", id }) as const),
    ];
  });
}

/** Assembles a key; undefined if the snapshot may lack records that it refers to. `isComplete`: whether it surely has them all. */
export function loadKey(
  snapshot: Snapshot,
  workspaceId: string,
  loaded: LoadedRecord,
  isComplete: boolean,
): CatalogKey | undefined {
  return tryRead(() => {
    const key = keyType.decode(loaded.record, workspaceId);
    const grants = snapshot.api.has(key.apiId) ? grantsOf(snapshot, key, isComplete) : null;
    if (grants === null) return undefined;
    const api = known(snapshot.api, key.apiId);
    if (api === null) return null;
    if (loaded.usage === null) throw corruptRecord(`counter of key ${key.id}`);
    const { linked } = loaded;
    const { direct, roles, permissions, held } = grants;
    return {
      key,
      usage: loaded.usage,
      workspace: known(snapshot.workspace, workspaceId) as WorkspaceRecord,
      revision: snapshot.revision,
      api,
      identity: linked === null ? null : identityType.decode(linked.record, workspaceId),
      identityUsage: linked?.usage ?? null,
      direct,
      roles,
      permissions,
      held,
      lastUsedAt: loaded.usedAt,
      handle: loaded.handle,
      identityHandle: linked?.handle,
    };
  });
}

/** The roles or permissions that exist, in ascending order of name. */
function namedGrants(
  records: Map<string, Known<NamedGrant>>,
  ids: readonly string[],
): readonly NamedGrant[] {
  const grants = ids.flatMap((id) => {
    const record = known(records, id);
    return record === null ? [] : Object.freeze({ id: record.id, name: record.name });
  });
  return Object.freeze(grants.sort(byName));
}

/** Sorts in ascending order of name, by code units. Names are unique. */
export function byName({ name: one }: NamedGrant, { name: other }: NamedGrant): number {
  return one < other ? -1 : 1;
}

/** The grants of a key; null if roles or permissions may be missing, because no key had the same grants before. */
function grantsOf(snapshot: Snapshot, key: KeyRecord, isComplete: boolean): ResolvedGrants | null {
  const { latest } = snapshot;
  const ceiling = ceilingOf(snapshot, key);
  if (latest !== null && latest.ceiling === ceiling && isSameList(latest.key.roles, key.roles))
    if (isSameList(latest.key.permissions, key.permissions)) return latest.grants;
  const own = `${key.roles.join(" ")}|${key.permissions.join(" ")}`;
  const name = ceiling === undefined ? own : `${own}|${key.apiId}`;
  const resolved = snapshot.grants.get(name);
  const grants = resolved ?? (isComplete ? resolve(snapshot, key, name, ceiling) : null);
  if (grants !== null) snapshot.latest = { key, ceiling, grants };
  return grants;
}

/** The ceiling of the key's API on permissions; undefined for none. */
function ceilingOf(snapshot: Snapshot, { apiId }: KeyRecord): JsonValue | undefined {
  const api = snapshot.api.get(apiId);
  return api instanceof LatchkeyError ? undefined : api?.ceilings?.permissions;
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  // Not `every`: it makes a page of keys in memory a third slower.
  for (let index = 0; index < one.length; index += 1) if (one[index] !== other[index]) return false;
  return true;
}

/** Resolves the grants of a key. The snapshot has all its roles and permissions. */
function resolve(
  snapshot: Snapshot,
  key: KeyRecord,
  name: string,
  ceiling: JsonValue | undefined,
): ResolvedGrants {
  const direct = Object.freeze({
    roles: namedGrants(snapshot.role, key.roles),
    permissions: namedGrants(snapshot.permission, key.permissions),
  });
  const inherited = direct.roles.flatMap(({ id }) =>
    namedGrants(snapshot.permission, known(snapshot.role, id)?.permissions ?? []),
  );
  const byRoles = inherited.map((grant) => grant.name);
  const names = new Set([
    ...direct.permissions.map((grant) => grant.name),
    ...(ceiling === undefined ? byRoles : belowCeiling(byRoles, namesIn(ceiling, key))),
  ]);
  const permissions = Object.freeze([...names].sort());
  const roles = Object.freeze(direct.roles.map((role) => role.name));
  const grants = { direct, roles, permissions, held: new HeldPermissions(permissions) };
  if (snapshot.grants.size >= MAX_GRANT_SETS) snapshot.grants.clear();
  snapshot.grants.set(name, grants);
  return grants;
}

/** Reads the names of a ceiling. @throws LatchkeyError `STORE_CORRUPT` if it is damaged: without it, a key could have too much. */
function namesIn(ceiling: JsonValue, { apiId }: KeyRecord): readonly string[] {
  const names = Array.isArray(ceiling) ? ceiling : [null];
  if (!names.every((name) => typeof name === "string")) throw corruptRecord(`api ${apiId}`);
  return names;
}

/** A record that was read before, or null. @throws LatchkeyError `STORE_CORRUPT` if it is damaged. */
function known<Value>(records: Map<string, Known<Value>>, id: string): Value | null {
  const value = records.get(id) ?? null;
  if (value instanceof LatchkeyError) throw value;
  return value;
}

/** Reads a value. The error of a damaged record becomes the value. */
function tryRead<Value>(read: () => Value): Value | LatchkeyError {
  try {
    return read();
  } catch (error) {
    if (isCorruptRecord(error)) return error;
    throw error;
  }
}

/**
 * Most workspaces that are cached, one or two kB each if they have few records. Callers choose workspace ids: these must not fill the memory
 * of this process.
 */
const MAX_WORKSPACES = 10_000;

/** Most records of one kind per workspace. */
const MAX_RECORDS = 20_000;

/** Records read at once. */
const MAX_WANTS = 5_000;

/**
 * Caches what many keys share: the workspace, APIs, roles and permissions, at one revision. Every change to one of them makes a new
 * revision, so what is cached for a revision never goes stale. `charge` checks whether that revision is still the current one.
 */
export class Catalog {
  readonly #store: Pick<KeyStore, "read">;
  readonly #snapshots = createLruCache<Snapshot>(MAX_WORKSPACES);

  constructor(store: Pick<KeyStore, "read">) {
    this.#store = store;
  }

  /** Assembles keys that were read at a revision; null if that is no longer current. Synchronous if all that they refer to is known. */
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
    this.#snapshots.set(workspaceId, snapshot);
    return snapshot;
  }
}
