import {
  type ApiRecord,
  type ChargePlan,
  type ChargeResult,
  type GrantReference,
  type IdentityLookup,
  type IdentityPatch,
  type IdentityRecord,
  type InsertKeyResult,
  type KeyPatch,
  type KeyStore,
  LatchkeyError,
  type LoadedKey,
  type MissingGrants,
  type NewKey,
  type Page,
  type PageRequest,
  type PermissionRecord,
  type RoleRecord,
  type RootKeyRecord,
  type UpdateKeyResult,
  untouchedWorkspace,
  type WorkspaceRecord,
} from "@latchkey/core";
import { Charges } from "./charges.js";
import { frozenCopy } from "./frozen.js";
import { missingGrants } from "./grants.js";
import { patchedIdentity } from "./patched.js";
import { StoredKeys } from "./stored-keys.js";
import { keptWindows } from "./windows.js";
import { type StoredApi, StoredWorkspace } from "./workspace.js";

/**
 * Opens an empty store in the memory of this process: the reference that every other store is compared with,
 * and the one to run tests on.
 *
 * Atomic because no method awaits anything. Exact, but not durable, and seen by this process only.
 */
export function memoryStore(): KeyStore {
  return new MemoryStore();
}

/** Every method is one synchronous section: `async` only turns what it throws into a rejection. */
class MemoryStore implements KeyStore {
  #isClosed = false;
  readonly #workspaces = new Map<string, StoredWorkspace>();
  readonly #keys = new StoredKeys();
  readonly #rootKeyByHash = new Map<string, RootKeyRecord>();
  readonly #charges = new Charges();

  async getWorkspace(workspaceId: string): Promise<WorkspaceRecord> {
    this.#assertOpen();
    return this.#workspaceRecord(workspaceId);
  }

  async setWorkspaceEnabled(workspaceId: string, enabled: boolean): Promise<void> {
    this.#assertOpen();
    this.#workspace(workspaceId).setEnabled(enabled);
  }

  async insertApi(api: ApiRecord): Promise<void> {
    this.#assertOpen();
    this.#workspace(api.workspaceId).addApi(api);
  }

  async getApi(workspaceId: string, apiId: string): Promise<ApiRecord | null> {
    this.#assertOpen();
    return this.#findApi(workspaceId, apiId)?.record ?? null;
  }

  async deleteApi(workspaceId: string, apiId: string): Promise<"deleted" | "not-found"> {
    this.#assertOpen();
    const api = this.#findApi(workspaceId, apiId);
    if (api === undefined) return "not-found";
    api.workspace.deleteApi(api);
    return "deleted";
  }

  async insertPermission(permission: PermissionRecord): Promise<"inserted" | "name-taken"> {
    this.#assertOpen();
    const { permissions } = this.#workspace(permission.workspaceId).grants;
    if (permissions.hasName(permission.name)) return "name-taken";
    permissions.add(frozenCopy(permission));
    return "inserted";
  }

  async insertRole(
    role: RoleRecord,
    permissions: readonly GrantReference<PermissionRecord>[],
  ): Promise<{ readonly kind: "inserted" | "name-taken" } | MissingGrants> {
    this.#assertOpen();
    const { grants } = this.#workspace(role.workspaceId);
    if (grants.roles.hasName(role.name)) return { kind: "name-taken" };
    const resolved = grants.resolvePermissions(permissions);
    const missing = missingGrants([], resolved.missing);
    if (missing !== null) return missing;
    for (const permission of resolved.created) grants.permissions.add(permission);
    grants.roles.add(frozenCopy({ ...role, permissions: resolved.items }));
    return { kind: "inserted" };
  }

  async insertRootKey(rootKey: RootKeyRecord): Promise<void> {
    this.#assertOpen();
    this.#rootKeyByHash.set(rootKey.hash, frozenCopy(rootKey));
  }

  async findRootKey(
    hash: string,
  ): Promise<{ readonly rootKey: RootKeyRecord; readonly workspace: WorkspaceRecord } | null> {
    this.#assertOpen();
    const rootKey = this.#rootKeyByHash.get(hash);
    if (rootKey === undefined) return null;
    return { rootKey, workspace: this.#workspaceRecord(rootKey.workspaceId) };
  }

  async insertIdentity(identity: IdentityRecord): Promise<"inserted" | "external-id-taken"> {
    this.#assertOpen();
    const workspace = this.#workspace(identity.workspaceId);
    const { externalId } = identity;
    if (workspace.findIdentity({ externalId }) !== null) return "external-id-taken";
    workspace.addIdentity(identity);
    return "inserted";
  }

  async getIdentity(workspaceId: string, lookup: IdentityLookup): Promise<IdentityRecord | null> {
    this.#assertOpen();
    return this.#workspaces.get(workspaceId)?.findIdentity(lookup)?.record ?? null;
  }

  async listIdentities(workspaceId: string, page: PageRequest): Promise<Page<IdentityRecord>> {
    this.#assertOpen();
    const identities = this.#workspaces.get(workspaceId)?.identities;
    if (identities === undefined) return emptyPage();
    const { items, hasMore } = identities.page(page.afterId, page.limit);
    return { items: items.map(({ record }) => record), hasMore, total: identities.size };
  }

  async updateIdentity(
    workspaceId: string,
    identityId: string,
    expectedVersion: number,
    patch: IdentityPatch,
  ): Promise<"updated" | "not-found" | "stale"> {
    this.#assertOpen();
    const identity = this.#workspaces.get(workspaceId)?.findIdentity({ identityId }) ?? null;
    if (identity === null) return "not-found";
    if (identity.record.version !== expectedVersion) return "stale";
    identity.record = patchedIdentity(identity.record, patch);
    identity.windows = keptWindows(identity.windows, identity.record.ratelimits);
    return "updated";
  }

  async insertKey(newKey: NewKey): Promise<InsertKeyResult> {
    this.#assertOpen();
    const { workspaceId, apiId } = newKey.key;
    return this.#keys.insert(this.#findApi(workspaceId, apiId), newKey);
  }

  async findKey(hash: string, workspaceId: string): Promise<LoadedKey | null> {
    this.#assertOpen();
    const key = this.#workspaces.get(workspaceId)?.keyByHash.get(hash);
    return key?.api.isLive ? key.load() : null;
  }

  async getKey(workspaceId: string, keyId: string): Promise<LoadedKey | null> {
    this.#assertOpen();
    return this.#keys.find(workspaceId, keyId)?.load() ?? null;
  }

  async listKeys(
    workspaceId: string,
    apiId: string,
    filter: { readonly identityId: string | null },
    page: PageRequest,
  ): Promise<Page<LoadedKey>> {
    this.#assertOpen();
    const keys = this.#findApi(workspaceId, apiId)?.keys;
    if (keys === undefined) return emptyPage();
    const { items, hasMore } = keys.page(filter.identityId, page.afterId, page.limit);
    return { items: items.map((key) => key.load()), hasMore, total: keys.size };
  }

  async updateKey(
    workspaceId: string,
    keyId: string,
    expectedVersion: number,
    patch: KeyPatch,
  ): Promise<UpdateKeyResult> {
    this.#assertOpen();
    return this.#keys.update(this.#keys.find(workspaceId, keyId), expectedVersion, patch);
  }

  async deleteKey(workspaceId: string, keyId: string): Promise<"deleted" | "not-found"> {
    this.#assertOpen();
    const key = this.#keys.find(workspaceId, keyId);
    if (key === undefined) return "not-found";
    this.#keys.delete(key);
    return "deleted";
  }

  async deleteKeys(
    workspaceId: string,
    apiId: string,
    limit: number,
  ): Promise<{ readonly deleted: number; readonly hasMore: boolean }> {
    this.#assertOpen();
    const workspace = this.#workspaces.get(workspaceId);
    const api = workspace?.apis.get(apiId);
    if (workspace === undefined || api === undefined) return { deleted: 0, hasMore: false };
    const { items, hasMore } = api.keys.page(null, null, limit);
    for (const key of items) this.#keys.delete(key);
    if (!hasMore && !api.isLive) workspace.apis.delete(apiId);
    return { deleted: items.length, hasMore };
  }

  async charge(plan: ChargePlan): Promise<ChargeResult> {
    this.#assertOpen();
    return this.#charges.charge(this.#keys.findByPlan(plan), plan);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#workspaces.clear();
    this.#keys.clear();
    this.#rootKeyByHash.clear();
    this.#charges.clear();
  }

  #assertOpen(): void {
    if (this.#isClosed) {
      throw new LatchkeyError("STORE_UNAVAILABLE", "the store was closed", {
        outcome: "not-applied",
      });
    }
  }

  /** The workspace to write to. Reading never creates one. */
  #workspace(workspaceId: string): StoredWorkspace {
    const known = this.#workspaces.get(workspaceId);
    if (known !== undefined) return known;
    const workspace = new StoredWorkspace(workspaceId, this.#keys);
    this.#workspaces.set(workspaceId, workspace);
    return workspace;
  }

  #workspaceRecord(workspaceId: string): WorkspaceRecord {
    return this.#workspaces.get(workspaceId)?.record ?? untouchedWorkspace(workspaceId);
  }

  #findApi(workspaceId: string, apiId: string): StoredApi | undefined {
    const api = this.#workspaces.get(workspaceId)?.apis.get(apiId);
    return api?.isLive ? api : undefined;
  }
}

function emptyPage<Item>(): Page<Item> {
  return { items: [], hasMore: false, total: 0 };
}
