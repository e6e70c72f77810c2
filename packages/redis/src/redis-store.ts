import type {
  ApiPatch,
  ApiRecord,
  ChangeFilter,
  ChangeLog,
  ChargePlan,
  CountSubject,
  EpochMs,
  GrantReference,
  IdentityLookup,
  IdentityPatch,
  IdentityRecord,
  KeyPatch,
  KeyStore,
  LoggedChange,
  NamespacePlan,
  NewKey,
  PageRequest,
  PermissionRecord,
  RoleRecord,
  RootKeyRecord,
  Rotation,
  Usage,
  VerificationBatch,
  WorkspaceRecord,
} from "@latchkey/core";
import { Apis } from "./apis.js";
import { Changes } from "./changes.js";
import { Charging } from "./charge.js";
import {
  assertNeverResends,
  isCluster,
  type RedisClient,
  type RedisClusterClient,
} from "./client.js";
import { Connection } from "./connection.js";
import { Identities } from "./identities.js";
import { KeyNames } from "./key-names.js";
import { KeyQueries } from "./key-queries.js";
import { KeyRemoval } from "./key-removal.js";
import { Keys } from "./keys.js";
import { Namespaces } from "./namespaces.js";
import { NewKeys } from "./new-keys.js";
import { openUrl } from "./open.js";
import { parseOptions, type RedisStoreOptions } from "./options.js";
import { Permissions } from "./permissions.js";
import { Roles } from "./roles.js";
import { RootKeys } from "./root-keys.js";
import { Verifications } from "./verifications.js";
import { Workspaces } from "./workspaces.js";

type PermissionReferences = readonly GrantReference<PermissionRecord>[];

/**
 * Opens a store in Redis. Many processes on many machines may share one, and all promises of `KeyStore` hold among
 * them. Everything of one workspace lives in one hash slot, so that each call is one script on one server, also on a
 * Redis Cluster.
 *
 * Before the first call, and after every reconnect, the server is asked whether it may be trusted with keys; calls
 * reject with `STORE_UNAVAILABLE`, naming the setting, while it may not.
 *
 * @param server - `redis://`, `rediss://` or `redis+cluster://a:6379,b:6379`; or a client of `ioredis`, which has to be
 * made so that it never sends a command twice, and stays open when the store is closed.
 * @throws TypeError naming the option of the store or of the client that is wrong.
 * @see packages/core/decisions/0012-redis-one-slot-per-workspace.md
 */
export function redisStore(
  server: string | RedisClient | RedisClusterClient,
  options: RedisStoreOptions = {},
): KeyStore {
  const settings = parseOptions(options);
  const isOwned = typeof server === "string";
  if (!isOwned) assertNeverResends(server);
  const client = isOwned ? openUrl(server, settings) : server;
  if (settings.waitReplicas !== null && isCluster(client)) {
    client.disconnect();
    throw new TypeError('"waitReplicas" is for a single primary: leave it out with Redis Cluster');
  }
  const connection = new Connection(client, isOwned, settings);
  return new RedisStore(connection, new KeyNames(settings.keyPrefix));
}

class RedisStore implements KeyStore {
  readonly #connection: Connection;
  readonly #workspaces: Workspaces;
  readonly #apis: Apis;
  readonly #permissions: Permissions;
  readonly #roles: Roles;
  readonly #rootKeys: RootKeys;
  readonly #identities: Identities;
  readonly #queries: KeyQueries;
  readonly #newKeys: NewKeys;
  readonly #keys: Keys;
  readonly #removal: KeyRemoval;
  readonly #charging: Charging;
  readonly #namespaces: Namespaces;
  readonly #verifications: Verifications;
  readonly #changes: Changes;

  constructor(connection: Connection, names: KeyNames) {
    this.#connection = connection;
    this.#workspaces = new Workspaces(connection, names);
    this.#apis = new Apis(connection, names);
    this.#permissions = new Permissions(connection, names);
    this.#roles = new Roles(connection, names);
    this.#rootKeys = new RootKeys(connection, names);
    this.#identities = new Identities(connection, names);
    this.#queries = new KeyQueries(connection, names);
    this.#newKeys = new NewKeys(connection, names);
    this.#keys = new Keys(connection, names, this.#queries);
    this.#removal = new KeyRemoval(connection, names, this.#queries);
    this.#charging = new Charging(connection, names, this.#queries);
    this.#namespaces = new Namespaces(connection, names);
    this.#verifications = new Verifications(connection, names);
    this.#changes = new Changes(connection, names);
  }

  getWorkspace(workspaceId: string) {
    return this.#workspaces.get(workspaceId);
  }

  insertWorkspace(workspace: WorkspaceRecord, log: ChangeLog) {
    return this.#workspaces.insert(workspace, log);
  }

  setWorkspaceEnabled(workspaceId: string, enabled: boolean, log: ChangeLog) {
    return this.#workspaces.setEnabled(workspaceId, enabled, log);
  }

  insertApi(api: ApiRecord, log: ChangeLog) {
    return this.#apis.insert(api, log);
  }

  getApi(workspaceId: string, apiId: string) {
    return this.#apis.get(workspaceId, apiId);
  }

  listApis(workspaceId: string, page: PageRequest) {
    return this.#apis.list(workspaceId, page);
  }

  updateApi(
    workspaceId: string,
    apiId: string,
    expectedVersion: number,
    patch: ApiPatch,
    log: ChangeLog,
  ) {
    return this.#apis.update(workspaceId, apiId, expectedVersion, patch, log);
  }

  deleteApi(workspaceId: string, apiId: string, log: ChangeLog) {
    return this.#apis.delete(workspaceId, apiId, log);
  }

  insertPermission(permission: PermissionRecord, log: ChangeLog) {
    return this.#permissions.insert(permission, log);
  }

  getPermission(workspaceId: string, permissionId: string) {
    return this.#permissions.get(workspaceId, permissionId);
  }

  listPermissions(workspaceId: string) {
    return this.#permissions.list(workspaceId);
  }

  deletePermission(workspaceId: string, permissionId: string, log: ChangeLog) {
    return this.#permissions.delete(workspaceId, permissionId, log);
  }

  insertRole(role: RoleRecord, permissions: PermissionReferences, log: ChangeLog) {
    return this.#roles.insert(role, permissions, log);
  }

  getRole(workspaceId: string, roleId: string) {
    return this.#roles.get(workspaceId, roleId);
  }

  listRoles(workspaceId: string) {
    return this.#roles.list(workspaceId);
  }

  setRolePermissions(
    workspaceId: string,
    roleId: string,
    expectedVersion: number,
    permissions: PermissionReferences,
    log: ChangeLog,
  ) {
    return this.#roles.setPermissions(workspaceId, roleId, expectedVersion, permissions, log);
  }

  deleteRole(workspaceId: string, roleId: string, log: ChangeLog) {
    return this.#roles.delete(workspaceId, roleId, log);
  }

  insertRootKey(rootKey: RootKeyRecord, log: ChangeLog) {
    return this.#rootKeys.insert(rootKey, log);
  }

  findRootKey(hash: string) {
    return this.#rootKeys.find(hash);
  }

  listRootKeys(workspaceId: string, page: PageRequest) {
    return this.#rootKeys.list(workspaceId, page);
  }

  deleteRootKey(workspaceId: string, rootKeyId: string, log: ChangeLog) {
    return this.#rootKeys.delete(workspaceId, rootKeyId, log);
  }

  insertIdentity(identity: IdentityRecord, usage: Usage, log: ChangeLog) {
    return this.#identities.insert(identity, usage, log);
  }

  getIdentity(workspaceId: string, lookup: IdentityLookup) {
    return this.#identities.get(workspaceId, lookup);
  }

  listIdentities(workspaceId: string, page: PageRequest) {
    return this.#identities.list(workspaceId, page);
  }

  updateIdentity(
    workspaceId: string,
    identityId: string,
    expectedVersion: number,
    patch: IdentityPatch,
    log: ChangeLog,
  ) {
    return this.#identities.update(workspaceId, identityId, expectedVersion, patch, log);
  }

  deleteIdentity(workspaceId: string, identityId: string, log: ChangeLog) {
    return this.#identities.delete(workspaceId, identityId, log);
  }

  insertKeys(newKeys: readonly NewKey[], log: ChangeLog) {
    return this.#newKeys.insert(newKeys, log);
  }

  findKey(hash: string, workspaceId: string) {
    return this.#queries.findByHash(hash, workspaceId);
  }

  getKey(workspaceId: string, keyId: string) {
    return this.#queries.find(workspaceId, keyId);
  }

  listKeys(
    workspaceId: string,
    apiId: string,
    { identityId }: { readonly identityId: string | null },
    page: PageRequest,
  ) {
    return this.#queries.list(workspaceId, apiId, identityId, page);
  }

  updateKey(
    workspaceId: string,
    keyId: string,
    expectedVersion: number,
    patch: KeyPatch,
    log: ChangeLog,
  ) {
    return this.#keys.update(workspaceId, keyId, expectedVersion, patch, log);
  }

  rotateKey(
    workspaceId: string,
    keyId: string,
    expectedVersion: number,
    rotation: Rotation,
    log: ChangeLog,
  ) {
    return this.#keys.rotate(workspaceId, keyId, expectedVersion, rotation, log);
  }

  deleteKey(workspaceId: string, keyId: string, _removal: unknown, log: ChangeLog) {
    return this.#removal.delete(workspaceId, keyId, log);
  }

  deleteKeys(
    workspaceId: string,
    apiId: string,
    limit: number,
    _deletedAt: EpochMs,
    entryOf: ((keyId: string) => LoggedChange) | null,
  ) {
    return this.#removal.deleteSome(workspaceId, apiId, limit, entryOf);
  }

  charge(plan: ChargePlan) {
    return rejecting(() => this.#charging.charge(plan));
  }

  takeFromNamespace(plan: NamespacePlan) {
    return rejecting(() => this.#namespaces.take(plan));
  }

  addVerifications(workspaceId: string, batch: VerificationBatch) {
    return this.#verifications.add(workspaceId, batch);
  }

  getVerifications(workspaceId: string, subject: CountSubject, startAt: EpochMs, endAt: EpochMs) {
    return this.#verifications.get(workspaceId, subject, startAt, endAt);
  }

  deleteVerifications(workspaceId: string, beforeAt: EpochMs, limit: number) {
    return this.#verifications.delete(workspaceId, beforeAt, limit);
  }

  listChanges(
    workspaceId: string,
    filter: ChangeFilter,
    page: { readonly beforeId: string | null; readonly limit: number },
  ) {
    return this.#changes.list(workspaceId, filter, page);
  }

  deleteChanges(workspaceId: string, beforeId: string, limit: number) {
    return this.#changes.delete(workspaceId, beforeId, limit);
  }

  close() {
    return this.#connection.close();
  }
}

/** What is thrown before anything is sent is a rejection like any other. */
function rejecting<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    return call();
  } catch (error) {
    return Promise.reject(error);
  }
}
