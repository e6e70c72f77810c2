import { LatchkeyError } from "../errors.js";
import type { ApiRecord } from "../records/api.js";
import type { KeyRecord } from "../records/key.js";
import type { PermissionRecord } from "../records/permission.js";
import type { RoleRecord } from "../records/role.js";
import type { WorkspaceRecord } from "../records/workspace.js";
import { HeldPermissions } from "../rules/permission.js";
import type { NamedGrant, ResolvedGrants } from "./loaded-key.js";

/** A record, null where there is none, or the error of one that is damaged: it concerns only those who need it. */
export type Known<Value> = Value | null | LatchkeyError;

/** What the keys of a workspace share, as it was at one revision. */
export interface Snapshot {
  readonly revision: number;
  readonly workspace: Map<string, Known<WorkspaceRecord>>;
  readonly api: Map<string, Known<ApiRecord>>;
  readonly role: Map<string, Known<RoleRecord>>;
  readonly permission: Map<string, Known<PermissionRecord>>;
  /** What keys hold, worked out once for all that hold the same. */
  readonly grants: Map<string, ResolvedGrants>;
  /** The grants that were looked up last. */
  latest: { readonly key: KeyRecord; readonly grants: ResolvedGrants } | null;
}

/** Most different sets of roles and permissions that are kept. */
const MAX_GRANT_SETS = 20_000;

/** A record that was read before, or null. @throws LatchkeyError `STORE_CORRUPT` where it is damaged. */
export function known<Value>(records: Map<string, Known<Value>>, id: string): Value | null {
  const value = records.get(id) ?? null;
  if (value instanceof LatchkeyError) throw value;
  return value;
}

/** What a key holds, if some key held the same before: mostly the one before it. */
export function knownGrants(snapshot: Snapshot, key: KeyRecord): ResolvedGrants | undefined {
  const { latest } = snapshot;
  if (latest !== null && isSameList(latest.key.roles, key.roles)) {
    if (isSameList(latest.key.permissions, key.permissions)) return latest.grants;
  }
  const grants = snapshot.grants.get(grantsName(key.roles, key.permissions));
  if (grants !== undefined) snapshot.latest = { key, grants };
  return grants;
}

/**
 * The names of what a key holds, worked out once for all keys that hold the same. All these roles and permissions are in the
 * snapshot by then.
 */
export function resolvedGrants(
  snapshot: Snapshot,
  roleIds: readonly string[],
  permissionIds: readonly string[],
): ResolvedGrants {
  const name = grantsName(roleIds, permissionIds);
  const before = snapshot.grants.get(name);
  if (before !== undefined) return before;
  const direct = Object.freeze({
    roles: namedGrants(snapshot.role, roleIds),
    permissions: namedGrants(snapshot.permission, permissionIds),
  });
  const inherited = direct.roles.flatMap(({ id }) =>
    namedGrants(snapshot.permission, known(snapshot.role, id)?.permissions ?? []),
  );
  const names = new Set([...direct.permissions, ...inherited].map((grant) => grant.name));
  const permissions = Object.freeze([...names].sort());
  const grants: ResolvedGrants = {
    direct,
    roles: Object.freeze(direct.roles.map((role) => role.name)),
    permissions,
    held: new HeldPermissions(permissions),
  };
  if (snapshot.grants.size >= MAX_GRANT_SETS) snapshot.grants.clear();
  snapshot.grants.set(name, grants);
  return grants;
}

/** Those that exist, in ascending order of name. */
export function namedGrants(
  records: Map<string, Known<NamedGrant>>,
  ids: readonly string[],
): readonly NamedGrant[] {
  const grants: NamedGrant[] = [];
  for (const id of ids) {
    const record = known(records, id);
    if (record !== null) grants.push(Object.freeze({ id: record.id, name: record.name }));
  }
  return Object.freeze(grants.sort(byName));
}

/** Most keys hold nothing, and most others hold what some key held before. */
function grantsName(roleIds: readonly string[], permissionIds: readonly string[]): string {
  if (roleIds.length === 0 && permissionIds.length === 0) return "";
  return `${roleIds.join(" ")}|${permissionIds.join(" ")}`;
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index += 1) if (one[index] !== other[index]) return false;
  return true;
}

function byName(one: NamedGrant, other: NamedGrant): number {
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
}
