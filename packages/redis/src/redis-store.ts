import type {
  ApiRecord,
  ChargePlan,
  GrantReference,
  IdentityLookup,
  IdentityPatch,
  IdentityRecord,
  KeyPatch,
  KeyStore,
  NewKey,
  PageRequest,
  PermissionRecord,
  RoleRecord,
  RootKeyRecord,
} from "@latchkey/core";
import { Charging } from "./charge.js";
import {
  assertNeverResends,
  isCluster,
  type RedisClient,
  type RedisClusterClient,
} from "./client.js";
import { Connection } from "./connection.js";
import { GrantCatalogs } from "./grants.js";
import { Identities } from "./identities.js";
import { KeyNames } from "./key-names.js";
import { KeyQueries } from "./key-queries.js";
import { Keys } from "./keys.js";
import { openUrl } from "./open.js";
import { parseOptions, type RedisStoreOptions } from "./options.js";
import { RootKeys } from "./root-keys.js";
import { Workspaces } from "./workspaces.js";

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
  readonly #identities: Identities;
  readonly #grants: GrantCatalogs;
  readonly #rootKeys: RootKeys;
  readonly #queries: KeyQueries;
  readonly #keys: Keys;
  readonly #charging: Charging;

  constructor(connection: Connection, names: KeyNames) {
    this.#connection = connection;
    this.#workspaces = new Workspaces(connection, names);
    this.#identities = new Identities(connection, names);
    this.#grants = new GrantCatalogs(connection, names);
    this.#rootKeys = new RootKeys(connection, names);
    this.#queries = new KeyQueries(connection, names);
    this.#keys = new Keys(connection, names, this.#queries);
    this.#charging = new Charging(connection, names, this.#queries);
  }

  getWorkspace(workspaceId: string) {
    return this.#workspaces.get(workspaceId);
  }

  setWorkspaceEnabled(workspaceId: string, enabled: boolean) {
    return this.#workspaces.setEnabled(workspaceId, enabled);
  }

  insertApi(api: ApiRecord) {
    return this.#workspaces.insertApi(api);
  }

  deleteApi(workspaceId: string, apiId: string) {
    return this.#workspaces.deleteApi(workspaceId, apiId);
  }

  getApi(workspaceId: string, apiId: string) {
    return this.#workspaces.getApi(workspaceId, apiId);
  }

  insertPermission(permission: PermissionRecord) {
    return this.#grants.insertPermission(permission);
  }

  insertRole(role: RoleRecord, permissions: readonly GrantReference<PermissionRecord>[]) {
    return this.#grants.insertRole(role, permissions);
  }

  insertRootKey(rootKey: RootKeyRecord) {
    return this.#rootKeys.insert(rootKey);
  }

  findRootKey(hash: string) {
    return this.#rootKeys.find(hash);
  }

  insertIdentity(identity: IdentityRecord) {
    return this.#identities.insert(identity);
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
  ) {
    return this.#identities.update(workspaceId, identityId, expectedVersion, patch);
  }

  insertKey(newKey: NewKey) {
    return this.#keys.insert(newKey);
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

  updateKey(workspaceId: string, keyId: string, expectedVersion: number, patch: KeyPatch) {
    return this.#keys.update(workspaceId, keyId, expectedVersion, patch);
  }

  deleteKeys(workspaceId: string, apiId: string, limit: number) {
    return this.#keys.deleteSome(workspaceId, apiId, limit);
  }

  deleteKey(workspaceId: string, keyId: string) {
    return this.#keys.delete(workspaceId, keyId);
  }

  charge(plan: ChargePlan) {
    try {
      return this.#charging.charge(plan);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  close() {
    return this.#connection.close();
  }
}
