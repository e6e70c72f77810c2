import type {
  ApiPatch,
  ApiRecord,
  ChangeFilter,
  ChangeLog,
  ChangeRecord,
  ChargePlan,
  ChargeResult,
  CountSubject,
  EpochMs,
  GrantReference,
  HourCount,
  IdentityLookup,
  IdentityPatch,
  IdentityRecord,
  InsertKeysResult,
  KeyPatch,
  KeyStore,
  LoadedIdentity,
  LoadedKey,
  LoadedRole,
  LoggedChange,
  MissingGrants,
  NamespacePlan,
  NewKey,
  Page,
  PageRequest,
  PermissionRecord,
  Removal,
  RoleRecord,
  RootKeyRecord,
  Rotation,
  UpdateIdentityResult,
  UpdateKeyResult,
  Usage,
  VerificationBatch,
  WindowDecision,
  WorkspaceRecord,
} from "@latchkey/core";
import { MemoryState } from "./memory-state.js";

/**
 * Opens an empty store in the memory of this process: the reference that every other store is compared with,
 * and the one to run tests on.
 *
 * Atomic because no method awaits anything. Exact, but not durable, and seen by this process only.
 */
export function memoryStore(): KeyStore {
  return new MemoryStore();
}

/**
 * Every method is one synchronous section: `async` only turns what it throws into a rejection. A write and its
 * entries in the audit log are one step for that reason.
 */
class MemoryStore implements KeyStore {
  readonly #state = new MemoryState();

  async getWorkspace(workspaceId: string): Promise<WorkspaceRecord> {
    return this.#state.opened.workspaces.record(workspaceId);
  }

  async insertWorkspace(workspace: WorkspaceRecord, log: ChangeLog) {
    const { workspaces, changes } = this.#state.opened;
    return changes.follow(workspaces.open(workspace.id).insert(workspace), log);
  }

  async setWorkspaceEnabled(workspaceId: string, enabled: boolean, log: ChangeLog): Promise<void> {
    const { workspaces, changes } = this.#state.opened;
    workspaces.open(workspaceId).setEnabled(enabled);
    changes.follow("updated", log);
  }

  async insertApi(api: ApiRecord, log: ChangeLog): Promise<void> {
    const { workspaces, changes } = this.#state.opened;
    workspaces.open(api.workspaceId).addApi(api);
    changes.follow("inserted", log);
  }

  async getApi(workspaceId: string, apiId: string): Promise<ApiRecord | null> {
    return this.#state.opened.workspaces.findApi(workspaceId, apiId)?.record ?? null;
  }

  async listApis(workspaceId: string, page: PageRequest): Promise<Page<ApiRecord>> {
    return this.#state.opened.workspaces.find(workspaceId)?.listApis(page) ?? emptyPage();
  }

  async updateApi(
    workspaceId: string,
    apiId: string,
    expectedVersion: number,
    patch: ApiPatch,
    log: ChangeLog,
  ) {
    const { workspaces, changes } = this.#state.opened;
    const workspace = workspaces.find(workspaceId);
    const result = workspace?.updateApi(apiId, expectedVersion, patch) ?? "not-found";
    return changes.follow(result, log);
  }

  async deleteApi(workspaceId: string, apiId: string, log: ChangeLog) {
    const { workspaces, changes } = this.#state.opened;
    return changes.follow(workspaces.find(workspaceId)?.deleteApi(apiId) ?? "not-found", log);
  }

  async insertPermission(permission: PermissionRecord, log: ChangeLog) {
    const { workspaces, changes } = this.#state.opened;
    const { grants } = workspaces.open(permission.workspaceId);
    return changes.follow(grants.insertPermission(permission), log);
  }

  async getPermission(workspaceId: string, permissionId: string): Promise<PermissionRecord | null> {
    const { workspaces } = this.#state.opened;
    return workspaces.find(workspaceId)?.grants.getPermission(permissionId) ?? null;
  }

  async listPermissions(workspaceId: string): Promise<readonly PermissionRecord[]> {
    return this.#state.opened.workspaces.find(workspaceId)?.grants.listPermissions() ?? [];
  }

  async deletePermission(workspaceId: string, permissionId: string, log: ChangeLog) {
    const { workspaces, changes } = this.#state.opened;
    const grants = workspaces.find(workspaceId)?.grants;
    return changes.follow(grants?.deletePermission(permissionId) ?? "not-found", log);
  }

  async insertRole(
    role: RoleRecord,
    permissions: readonly GrantReference<PermissionRecord>[],
    log: ChangeLog,
  ) {
    const { workspaces, changes } = this.#state.opened;
    const created: string[] = [];
    const { grants } = workspaces.open(role.workspaceId);
    return changes.follow(grants.insertRole(role, permissions, created), log, { created });
  }

  async getRole(workspaceId: string, roleId: string): Promise<LoadedRole | null> {
    return this.#state.opened.workspaces.find(workspaceId)?.grants.getRole(roleId) ?? null;
  }

  async listRoles(workspaceId: string): Promise<readonly LoadedRole[]> {
    return this.#state.opened.workspaces.find(workspaceId)?.grants.listRoles() ?? [];
  }

  async setRolePermissions(
    workspaceId: string,
    roleId: string,
    expectedVersion: number,
    permissions: readonly GrantReference<PermissionRecord>[],
    log: ChangeLog,
  ): Promise<{ readonly kind: "updated" | "not-found" | "stale" } | MissingGrants> {
    const { workspaces, changes } = this.#state.opened;
    const grants = workspaces.find(workspaceId)?.grants;
    if (grants === undefined) return { kind: "not-found" };
    const created: string[] = [];
    const result = grants.setRolePermissions(roleId, expectedVersion, permissions, created);
    return changes.follow(result, log, { created });
  }

  async deleteRole(workspaceId: string, roleId: string, log: ChangeLog) {
    const { workspaces, changes } = this.#state.opened;
    const grants = workspaces.find(workspaceId)?.grants;
    return changes.follow(grants?.deleteRole(roleId) ?? "not-found", log);
  }

  async insertRootKey(rootKey: RootKeyRecord, log: ChangeLog): Promise<void> {
    const { rootKeys, changes } = this.#state.opened;
    rootKeys.insert(rootKey);
    changes.follow("inserted", log);
  }

  async findRootKey(
    hash: string,
  ): Promise<{ readonly rootKey: RootKeyRecord; readonly workspace: WorkspaceRecord } | null> {
    const { rootKeys, workspaces } = this.#state.opened;
    const rootKey = rootKeys.find(hash);
    return rootKey ? { rootKey, workspace: workspaces.record(rootKey.workspaceId) } : null;
  }

  async listRootKeys(workspaceId: string, page: PageRequest): Promise<Page<RootKeyRecord>> {
    return this.#state.opened.rootKeys.list(workspaceId, page);
  }

  async deleteRootKey(workspaceId: string, rootKeyId: string, log: ChangeLog) {
    const { rootKeys, changes } = this.#state.opened;
    return changes.follow(rootKeys.delete(workspaceId, rootKeyId), log);
  }

  async insertIdentity(identity: IdentityRecord, usage: Usage, log: ChangeLog) {
    const { workspaces, changes } = this.#state.opened;
    const { identities } = workspaces.open(identity.workspaceId);
    return changes.follow(identities.insert(identity, usage), log);
  }

  async getIdentity(workspaceId: string, lookup: IdentityLookup): Promise<LoadedIdentity | null> {
    const { workspaces } = this.#state.opened;
    return workspaces.find(workspaceId)?.identities.find(lookup)?.load() ?? null;
  }

  async listIdentities(workspaceId: string, page: PageRequest): Promise<Page<LoadedIdentity>> {
    return this.#state.opened.workspaces.find(workspaceId)?.identities.list(page) ?? emptyPage();
  }

  async updateIdentity(
    workspaceId: string,
    identityId: string,
    expectedVersion: number,
    patch: IdentityPatch,
    log: ChangeLog,
  ): Promise<UpdateIdentityResult> {
    const { workspaces, changes } = this.#state.opened;
    const identities = workspaces.find(workspaceId)?.identities;
    if (identities === undefined) return { kind: "not-found" };
    return changes.follow(identities.update(identityId, expectedVersion, patch), log);
  }

  async deleteIdentity(workspaceId: string, identityId: string, log: ChangeLog) {
    const { workspaces, changes } = this.#state.opened;
    const identities = workspaces.find(workspaceId)?.identities;
    return changes.follow(identities?.delete(identityId) ?? "not-found", log);
  }

  async insertKeys(newKeys: readonly NewKey[], log: ChangeLog): Promise<InsertKeysResult> {
    const { keys, workspaces, changes } = this.#state.opened;
    const workspaceId = newKeys[0]?.key.workspaceId ?? "";
    const workspace = workspaces.find(workspaceId);
    if (workspace === undefined) return { kind: "api-not-found", index: 0 };
    const result = keys.insert(workspace, newKeys);
    if (result.kind !== "inserted" || log.length === 0) return result;
    const candidates = newKeys.map(({ identity }) => identity);
    const linked = workspace.identities.linkedInsteadOf(candidates);
    return changes.follow(result, log, { created: result.created, linked });
  }

  async findKey(hash: string, workspaceId: string): Promise<LoadedKey | null> {
    const key = this.#state.opened.workspaces.find(workspaceId)?.keyByHash.get(hash);
    return key?.api.isLive ? key.load() : null;
  }

  async getKey(workspaceId: string, keyId: string): Promise<LoadedKey | null> {
    return this.#state.opened.keys.find(workspaceId, keyId)?.load() ?? null;
  }

  async listKeys(
    workspaceId: string,
    apiId: string,
    { identityId }: { readonly identityId: string | null },
    page: PageRequest,
  ): Promise<Page<LoadedKey>> {
    const api = this.#state.opened.workspaces.findApi(workspaceId, apiId);
    return api?.listKeys(identityId, page) ?? emptyPage();
  }

  async updateKey(
    workspaceId: string,
    keyId: string,
    expectedVersion: number,
    patch: KeyPatch,
    log: ChangeLog,
  ): Promise<UpdateKeyResult> {
    const { keys, changes } = this.#state.opened;
    const key = keys.find(workspaceId, keyId);
    const result = keys.update(key, expectedVersion, patch);
    if (result.kind !== "updated" || log.length === 0) return result;
    const linked = key?.api.workspace.identities.linkedInsteadOf([patch.identity ?? null]);
    return changes.follow(result, log, { created: result.created, linked });
  }

  async rotateKey(
    workspaceId: string,
    keyId: string,
    expectedVersion: number,
    rotation: Rotation,
    log: ChangeLog,
  ) {
    const { keys, changes } = this.#state.opened;
    const result = keys.rotate(keys.find(workspaceId, keyId), expectedVersion, rotation);
    return changes.follow(result, log);
  }

  async deleteKey(workspaceId: string, keyId: string, _removal: unknown, log: ChangeLog) {
    const { keys, changes } = this.#state.opened;
    return changes.follow(keys.delete(keys.find(workspaceId, keyId)), log);
  }

  async deleteKeys(
    workspaceId: string,
    apiId: string,
    limit: number,
    _deletedAt: EpochMs,
    entryOf: ((keyId: string) => LoggedChange) | null,
  ): Promise<{ readonly deleted: readonly string[]; readonly hasMore: boolean }> {
    const { workspaces, keys, changes } = this.#state.opened;
    const api = workspaces.find(workspaceId)?.findApiToEmpty(apiId);
    if (api === undefined) return { deleted: [], hasMore: false };
    const { items, hasMore } = api.keys.page(null, null, limit);
    // All entries before the first deletion: should one throw, nothing was deleted.
    const log = entryOf === null ? [] : items.map(({ id }) => entryOf(id));
    for (const key of items) keys.delete(key);
    changes.follow("deleted", log);
    return { deleted: items.map(({ id }) => id), hasMore };
  }

  async charge(plan: ChargePlan): Promise<ChargeResult> {
    const { charges, keys } = this.#state.opened;
    return charges.charge(keys.findByPlan(plan), plan);
  }

  async takeFromNamespace(plan: NamespacePlan): Promise<WindowDecision> {
    return this.#state.opened.namespaces.take(plan);
  }

  async addVerifications(workspaceId: string, batch: VerificationBatch): Promise<void> {
    const { workspaces, keys } = this.#state.opened;
    const { verifications } = workspaces.open(workspaceId);
    for (const count of batch.counts) verifications.add(count);
    for (const { keyId, usedAt } of batch.lastUsed) keys.raiseLastUse(workspaceId, keyId, usedAt);
  }

  async getVerifications(
    workspaceId: string,
    subject: CountSubject,
    startAt: EpochMs,
    endAt: EpochMs,
  ): Promise<readonly HourCount[]> {
    const workspace = this.#state.opened.workspaces.find(workspaceId);
    return workspace?.verifications.read(subject, startAt, endAt) ?? [];
  }

  async deleteVerifications(
    workspaceId: string,
    beforeAt: EpochMs,
    limit: number,
  ): Promise<Removal> {
    const workspace = this.#state.opened.workspaces.find(workspaceId);
    return workspace?.verifications.delete(beforeAt, limit) ?? NOTHING_REMOVED;
  }

  async listChanges(
    workspaceId: string,
    filter: ChangeFilter,
    { beforeId, limit }: { readonly beforeId: string | null; readonly limit: number },
  ): Promise<{ readonly items: readonly ChangeRecord[]; readonly hasMore: boolean }> {
    return this.#state.opened.changes.list(workspaceId, filter, beforeId, limit);
  }

  async deleteChanges(workspaceId: string, beforeId: string, limit: number): Promise<Removal> {
    return this.#state.opened.changes.delete(workspaceId, beforeId, limit);
  }

  async close(): Promise<void> {
    this.#state.close();
  }
}

const NOTHING_REMOVED: Removal = Object.freeze({ deleted: 0, hasMore: false });

function emptyPage<Item>(): Page<Item> {
  return { items: [], hasMore: false, total: 0 };
}
