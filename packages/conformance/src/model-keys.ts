import {
  type ChangeLog,
  changeUsage,
  effectivePermissions,
  type InsertKeysResult,
  type KeyPatch,
  type KeyRecord,
  type LoadedKey,
  type NewKey,
  type Page,
  type PageRequest,
  type Rotation,
  type UpdateKeyResult,
} from "@latchkey/core";
import { grant, missingGrants, namedGrants } from "./model-grants.js";
import { link } from "./model-identities.js";
import { note } from "./model-log.js";
import { pageOf } from "./model-page.js";
import { countersOf, given, keepWindows, type Model, type ModelKey } from "./model-state.js";

/** Mirrors `insertKeys`. */
export function insertKeys(
  model: Model,
  newKeys: readonly NewKey[],
  log: ChangeLog,
): InsertKeysResult {
  const hashes = new Set<string>();
  for (const [index, { key }] of newKeys.entries()) {
    if (!model.hasApi(key)) return { kind: "api-not-found", index };
    if (hashes.has(key.hash) || isTaken(model, key)) return { kind: "hash-taken", index };
    hashes.add(key.hash);
  }
  const workspaceId = newKeys[0]?.key.workspaceId as string;
  const missing = missingGrants(model, workspaceId, {
    roles: newKeys.flatMap(({ grants }) => grants.roles ?? []),
    permissions: newKeys.flatMap(({ grants }) => grants.permissions ?? []),
  });
  if (missing !== null) return missing;
  const created: string[] = [];
  const linked = new Map<string, string>();
  for (const { key, usage, identity, grants } of newKeys) {
    const identityId = identity === null ? key.identityId : link(model, identity, created);
    if (identity !== null && identityId !== null) linked.set(identity.id, identityId);
    const added = { ...UNGRANTED, record: { ...key, identityId } };
    model.keys.push(added);
    model.usages.set(countersOf(key), usage);
    grant(model, added, grants, created);
  }
  note(model, log, { created, linked });
  return { kind: "inserted", created };
}

const UNGRANTED: Omit<ModelKey, "record"> = { roleIds: [], permissionIds: [], lastUsedAt: null };

/** Whether another key of the workspace has the hash of this one. */
export function isTaken({ keys }: Model, { hash, workspaceId }: KeyRecord): boolean {
  return keys.some(({ record }) => record.hash === hash && record.workspaceId === workspaceId);
}

/** A key as it is read. */
export function loadKey(model: Model, key: ModelKey): LoadedKey {
  const { record, roleIds, permissionIds, lastUsedAt } = key;
  const { workspaceId, identityId, apiId } = record;
  const roles = model.roles.filter((role) => roleIds.includes(role.record.id));
  const identity = model.identity(workspaceId, identityId);
  const namesOf = (ids: readonly string[]) =>
    namedGrants(model.permissions, ids).map(({ name }) => name);
  return {
    key: record,
    usage: model.usage(record),
    workspace: model.workspace(workspaceId),
    api: model.api(workspaceId, apiId) as LoadedKey["api"],
    identity: identity?.record ?? null,
    identityUsage: identity?.usage ?? null,
    direct: {
      roles: namedGrants(
        roles.map((role) => role.record),
        roleIds,
      ),
      permissions: namedGrants(model.permissions, permissionIds),
    },
    roles: roles.map((role) => role.record.name).sort(),
    permissions: effectivePermissions(
      namesOf(permissionIds),
      roles.map((role) => namesOf(role.permissionIds)),
    ),
    lastUsedAt,
  };
}

/** Mirrors `getKey`. */
export function getKey(model: Model, workspaceId: string, keyId: string): LoadedKey | null {
  const key = model.key(workspaceId, keyId);
  return key === undefined ? null : loadKey(model, key);
}

/** Mirrors `findKey`. */
export function findKey(model: Model, hash: string, workspaceId: string): LoadedKey | null {
  const found = model.keys.find(
    ({ record }) => record.hash === hash && record.workspaceId === workspaceId,
  );
  return found === undefined || !model.hasApi(found.record) ? null : loadKey(model, found);
}

/** Mirrors `listKeys`. */
export function listKeys(
  model: Model,
  workspaceId: string,
  apiId: string,
  identityId: string | null,
  page: PageRequest,
): Page<LoadedKey> {
  const all = model.keys
    .filter(({ record }) => record.workspaceId === workspaceId && record.apiId === apiId)
    .filter(({ record }) => model.hasApi(record))
    .map((key) => loadKey(model, key));
  const shown = all.filter(({ key }) => identityId === null || key.identityId === identityId);
  return pageOf(shown, ({ key }) => key.id, page, all.length);
}

/** Mirrors `updateKey`. */
export function updateKey(
  model: Model,
  workspaceId: string,
  keyId: string,
  expectedVersion: number,
  patch: KeyPatch,
  log: ChangeLog,
): UpdateKeyResult {
  const key = model.key(workspaceId, keyId);
  if (key === undefined) return { kind: "not-found" };
  const { record } = key;
  if (record.version !== expectedVersion) return { kind: "stale" };
  const { usage, grants, identity, ...fields } = patch;
  const changed = usage && changeUsage(model.usage(record), usage);
  if (changed && changed.kind !== "changed") return { kind: "usage-refused", reason: changed };
  const missing = missingGrants(model, workspaceId, grants ?? {});
  if (missing !== null) return missing;
  const created: string[] = [];
  const linked = new Map<string, string>();
  const { usage: _usage, updatedAt: _updatedAt, ...configuration } = given(patch);
  const rise = Object.keys(configuration).length > 0 ? 1 : 0;
  key.record = { ...record, ...given(fields), version: record.version + rise };
  if (identity !== undefined) {
    const identityId = identity && link(model, identity, created);
    if (identity !== null && identityId !== null) linked.set(identity.id, identityId);
    key.record = { ...key.record, identityId };
  }
  if (changed) model.usages.set(countersOf(record), changed.usage);
  if (grants) grant(model, key, grants, created);
  if (patch.ratelimits) keepWindows(model, countersOf(record), patch.ratelimits);
  note(model, log, { created, linked });
  return { kind: "updated", usage: model.usage(record), created };
}

/** Mirrors `rotateKey`. */
export function rotateKey(
  model: Model,
  workspaceId: string,
  keyId: string,
  expectedVersion: number,
  { successor, expiresAt, updatedAt }: Rotation,
  log: ChangeLog,
): "rotated" | "not-found" | "stale" | "hash-taken" {
  const old = model.key(workspaceId, keyId);
  if (old === undefined) return "not-found";
  const { record } = old;
  if (record.version !== expectedVersion) return "stale";
  if (isTaken(model, successor)) return "hash-taken";
  const identity = model.identity(workspaceId, successor.identityId);
  const identityId = identity?.record.id ?? null;
  const { roleIds, permissionIds } = old;
  const { countersId } = successor;
  model.keys.push({ ...UNGRANTED, record: { ...successor, identityId }, roleIds, permissionIds });
  old.record = {
    ...record,
    rotatedTo: successor.id,
    countersId,
    expiresAt,
    updatedAt,
    version: record.version + 1,
  };
  note(model, log);
  return "rotated";
}

/** Mirrors `deleteKey`. */
export function deleteKey(
  model: Model,
  workspaceId: string,
  keyId: string,
  log: ChangeLog,
): "deleted" | "not-found" {
  const key = model.key(workspaceId, keyId);
  if (key === undefined) return "not-found";
  model.keys = model.keys.filter((known) => known !== key);
  note(model, log);
  return "deleted";
}

/** Mirrors `deleteKeys`. */
export function deleteKeys(
  model: Model,
  workspaceId: string,
  apiId: string,
  limit: number,
  entryOf: (keyId: string) => ChangeLog,
) {
  const all = model.keys
    .filter(({ record }) => record.workspaceId === workspaceId && record.apiId === apiId)
    .map(({ record }) => record.id)
    .sort();
  const deleted = all.slice(0, limit);
  model.keys = model.keys.filter(({ record }) => !deleted.includes(record.id));
  for (const keyId of deleted) note(model, entryOf(keyId));
  return { deleted, hasMore: all.length > limit };
}
