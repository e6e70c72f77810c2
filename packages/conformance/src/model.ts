import {
  type ApiRecord,
  applyCharge,
  type ChargePlan,
  type ChargeResult,
  changeUsage,
  effectivePermissions,
  type GrantReference,
  type Grants,
  type IdentityPatch,
  type IdentityRecord,
  type InsertKeyResult,
  type KeyPatch,
  type KeyRecord,
  type LimitCharge,
  type LoadedKey,
  type MissingGrants,
  type NewKey,
  type Page,
  type PageRequest,
  type PermissionRecord,
  type RateLimit,
  type RateWindow,
  type RememberedCharge,
  type RoleRecord,
  type RootKeyRecord,
  type UpdateKeyResult,
  type Usage,
} from "@latchkey/core";
import { idsOf, isNamesake, isSameUser, missingOf } from "./model-references.js";

interface ModelKey {
  record: KeyRecord;
  usage: Usage;
  roleIds: readonly string[];
  permissionIds: readonly string[];
}

/**
 * What a store has to answer, as simply as it can be said: lists that are searched from end to end, and the rules
 * of core. No index, no concurrency, nothing shared with a real store.
 *
 * Of epochs the model knows nothing: a store may raise them more often than it must. Workspaces in its answers
 * stand at epoch 0, and a charge is told the epoch at which the store stands.
 */
export class Model {
  readonly disabledWorkspaces = new Set<string>();
  apis: ApiRecord[] = [];
  readonly rootKeys: RootKeyRecord[] = [];
  readonly permissions: PermissionRecord[] = [];
  readonly roles: (RoleRecord & { readonly permissionIds: readonly string[] })[] = [];
  identities: IdentityRecord[] = [];
  keys: ModelKey[] = [];
  readonly #windows = new Map<string, RateWindow>();
  readonly #remembered = new Map<string, RememberedCharge>();

  workspace(id: string) {
    return { id, enabled: !this.disabledWorkspaces.has(id), epoch: 0 };
  }

  deleteApi(workspaceId: string, apiId: string): "deleted" | "not-found" {
    const api = this.apis.find(
      ({ id, workspaceId: owner }) => id === apiId && owner === workspaceId,
    );
    this.apis = this.apis.filter((known) => known !== api);
    return api === undefined ? "not-found" : "deleted";
  }

  insertPermission(permission: PermissionRecord): "inserted" | "name-taken" {
    if (this.permissions.some((known) => isNamesake(known, permission))) return "name-taken";
    this.permissions.push(permission);
    return "inserted";
  }

  insertRole(role: RoleRecord, references: readonly GrantReference<PermissionRecord>[]) {
    if (this.roles.some((known) => isNamesake(known, role))) return { kind: "name-taken" };
    const missing = this.missing(role.workspaceId, { permissions: references });
    if (missing !== null) return missing;
    this.roles.push({
      ...role,
      permissionIds: this.#grantPermissions(role.workspaceId, references),
    });
    return { kind: "inserted" };
  }

  insertIdentity(identity: IdentityRecord): "inserted" | "external-id-taken" {
    if (this.identities.some((known) => isSameUser(known, identity))) return "external-id-taken";
    this.identities.push(identity);
    return "inserted";
  }

  listIdentities(workspaceId: string, page: PageRequest): Page<IdentityRecord> {
    const all = this.identities.filter((identity) => identity.workspaceId === workspaceId);
    return pageOf(all, ({ id }) => id, page, all.length);
  }

  updateIdentity(workspaceId: string, id: string, expectedVersion: number, patch: IdentityPatch) {
    const identity = this.identities.find(
      (known) => known.id === id && known.workspaceId === workspaceId,
    );
    if (identity === undefined) return "not-found";
    if (identity.version !== expectedVersion) return "stale";
    const updated = { ...identity, ...given(patch), version: identity.version + 1 };
    this.identities = this.identities.map((known) => (known === identity ? updated : known));
    if (patch.ratelimits) this.#keepWindows(id, patch.ratelimits);
    return "updated";
  }

  insertKey({ key, usage, identity, grants }: NewKey): InsertKeyResult {
    const { workspaceId, apiId } = key;
    if (!this.apis.some((api) => api.id === apiId && api.workspaceId === workspaceId))
      return { kind: "api-not-found" };
    if (
      this.keys.some(({ record }) => record.hash === key.hash && record.workspaceId === workspaceId)
    )
      return { kind: "hash-taken" };
    const missing = this.missing(workspaceId, grants);
    if (missing !== null) return missing;
    const identityId = identity === null ? key.identityId : this.#link(identity);
    const added: ModelKey = {
      record: { ...key, identityId },
      usage,
      roleIds: [],
      permissionIds: [],
    };
    this.#grant(added, grants);
    this.keys.push(added);
    return { kind: "inserted" };
  }

  load({ record, usage, roleIds, permissionIds }: ModelKey): LoadedKey {
    const roles = this.roles.filter(({ id }) => roleIds.includes(id));
    const namesOf = (ids: readonly string[]) =>
      this.permissions.filter(({ id }) => ids.includes(id)).map(({ name }) => name);
    return {
      key: record,
      usage,
      workspace: this.workspace(record.workspaceId),
      identity: this.identities.find(({ id }) => id === record.identityId) ?? null,
      roles: roles.map(({ name }) => name).sort(),
      permissions: effectivePermissions(
        namesOf(permissionIds),
        roles.map((role) => namesOf(role.permissionIds)),
      ),
    };
  }

  findKey(matches: (record: KeyRecord) => boolean): LoadedKey | null {
    const found = this.keys.find(({ record }) => matches(record) && this.hasApi(record));
    return found === undefined ? null : this.load(found);
  }

  listKeys(
    workspaceId: string,
    apiId: string,
    identityId: string | null,
    page: PageRequest,
  ): Page<LoadedKey> {
    const all = this.keys
      .filter(({ record }) => record.workspaceId === workspaceId && record.apiId === apiId)
      .filter(({ record }) => this.hasApi(record))
      .map((key) => this.load(key));
    const shown = all.filter(({ key }) => identityId === null || key.identityId === identityId);
    return pageOf(shown, ({ key }) => key.id, page, all.length);
  }

  updateKey(
    workspaceId: string,
    keyId: string,
    expectedVersion: number,
    patch: KeyPatch,
  ): UpdateKeyResult {
    const key = this.#key(workspaceId, keyId);
    if (key === undefined) return { kind: "not-found" };
    if (key.record.version !== expectedVersion) return { kind: "stale" };
    const { usage, grants, identity, ...fields } = patch;
    const changed = usage && changeUsage(key.usage, usage);
    if (changed && changed.kind !== "changed") return { kind: "usage-refused", reason: changed };
    const missing = this.missing(workspaceId, grants ?? {});
    if (missing !== null) return missing;
    const { usage: _usage, updatedAt: _updatedAt, ...configuration } = given(patch);
    const isConfigured = Object.keys(configuration).length > 0;
    key.record = {
      ...key.record,
      ...given(fields),
      version: key.record.version + (isConfigured ? 1 : 0),
    };
    if (identity !== undefined)
      key.record = { ...key.record, identityId: identity && this.#link(identity) };
    if (changed) key.usage = changed.usage;
    if (grants) this.#grant(key, grants);
    if (patch.ratelimits) this.#keepWindows(keyId, patch.ratelimits);
    return { kind: "updated", usage: key.usage };
  }

  deleteKey(workspaceId: string, keyId: string): "deleted" | "not-found" {
    const key = this.#key(workspaceId, keyId);
    this.keys = this.keys.filter((known) => known !== key);
    return key === undefined ? "not-found" : "deleted";
  }

  deleteKeys(workspaceId: string, apiId: string, limit: number) {
    const all = this.keys
      .filter(({ record }) => record.workspaceId === workspaceId && record.apiId === apiId)
      .sort((one, two) => (one.record.id < two.record.id ? -1 : 1));
    const deleted = all.slice(0, limit);
    this.keys = this.keys.filter((key) => !deleted.includes(key));
    return { deleted: deleted.length, hasMore: all.length > limit };
  }

  /** @param epoch - The epoch of the key's workspace in the store. */
  charge(plan: ChargePlan, epoch: number): ChargeResult {
    const key = this.#key(plan.workspaceId, plan.keyId);
    if (key === undefined) return { kind: "stale" };
    const identity = this.load(key).identity;
    const names = plan.limits.map((limit) => windowName(key.record, limit));
    const state = {
      keyVersion: key.record.version,
      identityVersion: identity === null ? null : identity.version,
      epoch,
      usage: key.usage,
      windows: names.map((name) => this.#windows.get(name) ?? null),
      remembered: plan.request ? this.remembered(plan.keyId, plan.request.id) : null,
    };
    const { result, next } = applyCharge(state, plan);
    if (next === null) return result;
    key.usage = next.usage;
    for (const [index, window] of next.windows.entries()) {
      if (window !== null) this.#windows.set(names[index] as string, window);
    }
    if (next.remember !== null)
      this.#remembered.set(`${plan.keyId} ${plan.request?.id}`, next.remember);
    return result;
  }

  /** What is remembered of a request of a key, expired or not. */
  remembered(keyId: string, requestId: string): RememberedCharge | null {
    return this.#remembered.get(`${keyId} ${requestId}`) ?? null;
  }

  /** Names and ids that nothing in the workspace goes by; null where there are none. */
  missing(workspaceId: string, { roles = [], permissions = [] }: Grants): MissingGrants | null {
    const refusal = {
      kind: "missing-grants",
      roles: missingOf(this.roles, workspaceId, roles),
      permissions: missingOf(this.permissions, workspaceId, permissions),
    } as const;
    return refusal.roles.length + refusal.permissions.length === 0 ? null : refusal;
  }

  #key(workspaceId: string, keyId: string): ModelKey | undefined {
    return this.keys.find(
      ({ record }) =>
        record.id === keyId && record.workspaceId === workspaceId && this.hasApi(record),
    );
  }

  /** Whether the API of a key was not deleted. */
  hasApi({ apiId }: KeyRecord): boolean {
    return this.apis.some(({ id }) => id === apiId);
  }

  /** Id of the identity with the candidate's external id, which is the candidate where there was none. */
  #link(candidate: IdentityRecord): string {
    this.insertIdentity(candidate);
    return (this.identities.find((known) => isSameUser(known, candidate)) as IdentityRecord).id;
  }

  #grant(key: ModelKey, { roles, permissions }: Grants): void {
    const { workspaceId } = key.record;
    for (const reference of roles ?? []) {
      if (reference.kind === "name" && reference.orCreate !== null)
        this.insertRole(reference.orCreate, []);
    }
    if (roles) key.roleIds = idsOf(this.roles, workspaceId, roles);
    if (permissions) key.permissionIds = this.#grantPermissions(workspaceId, permissions);
  }

  #grantPermissions(
    workspaceId: string,
    references: readonly GrantReference<PermissionRecord>[],
  ): readonly string[] {
    for (const reference of references) {
      if (reference.kind === "name" && reference.orCreate !== null)
        this.insertPermission(reference.orCreate);
    }
    return idsOf(this.permissions, workspaceId, references);
  }

  #keepWindows(ownerId: string, limits: readonly RateLimit[]): void {
    for (const name of this.#windows.keys()) {
      const [owner, isConfigured, limitName, durationMs] = JSON.parse(name);
      const isKept = limits.some(
        (limit) => limit.name === limitName && limit.durationMs === durationMs,
      );
      if (owner === ownerId && isConfigured && !isKept) this.#windows.delete(name);
    }
  }
}

function windowName(
  { id, identityId }: KeyRecord,
  { owner, isConfigured, name, durationMs }: LimitCharge,
): string {
  return JSON.stringify([owner === "key" ? id : identityId, isConfigured, name, durationMs]);
}

function pageOf<Item>(
  items: readonly Item[],
  idOf: (item: Item) => string,
  { afterId, limit }: PageRequest,
  total: number,
): Page<Item> {
  const following = items
    .filter((item) => afterId === null || idOf(item) > afterId)
    .sort((one, two) => (idOf(one) < idOf(two) ? -1 : 1));
  return { items: following.slice(0, limit), hasMore: following.length > limit, total };
}

/** The fields of a patch that are not undefined. */
function given<Patch extends object>(
  patch: Patch,
): { [Field in keyof Patch]: Exclude<Patch[Field], undefined> } {
  const fields = Object.entries(patch).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields) as { [Field in keyof Patch]: Exclude<Patch[Field], undefined> };
}
