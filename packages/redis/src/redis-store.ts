import type { KeyStore } from "@latchkey/core";
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
  return storeOn(connection, new KeyNames(settings.keyPrefix));
}

/** Each call by the class that it is of. */
function storeOn(connection: Connection, names: KeyNames): KeyStore {
  const workspaces = new Workspaces(connection, names);
  const apis = new Apis(connection, names);
  const permissions = new Permissions(connection, names);
  const roles = new Roles(connection, names);
  const rootKeys = new RootKeys(connection, names);
  const identities = new Identities(connection, names);
  const queries = new KeyQueries(connection, names);
  const newKeys = new NewKeys(connection, names);
  const keys = new Keys(connection, names, queries);
  const removal = new KeyRemoval(connection, names, queries);
  const charging = new Charging(connection, names, queries);
  const namespaces = new Namespaces(connection, names);
  const verifications = new Verifications(connection, names);
  const changes = new Changes(connection, names);
  return {
    getWorkspace: (...given) => workspaces.get(...given),
    insertWorkspace: (...given) => workspaces.insert(...given),
    setWorkspaceEnabled: (...given) => workspaces.setEnabled(...given),

    insertApi: (...given) => apis.insert(...given),
    getApi: (...given) => apis.get(...given),
    listApis: (...given) => apis.list(...given),
    updateApi: (...given) => apis.update(...given),
    deleteApi: (...given) => apis.delete(...given),

    insertPermission: (...given) => permissions.insert(...given),
    getPermission: (...given) => permissions.get(...given),
    listPermissions: (...given) => permissions.list(...given),
    deletePermission: (...given) => permissions.delete(...given),
    insertRole: (...given) => roles.insert(...given),
    getRole: (...given) => roles.get(...given),
    listRoles: (...given) => roles.list(...given),
    setRolePermissions: (...given) => roles.setPermissions(...given),
    deleteRole: (...given) => roles.delete(...given),

    insertRootKey: (...given) => rootKeys.insert(...given),
    findRootKey: (...given) => rootKeys.find(...given),
    listRootKeys: (...given) => rootKeys.list(...given),
    deleteRootKey: (...given) => rootKeys.delete(...given),

    insertIdentity: (...given) => identities.insert(...given),
    getIdentity: (...given) => identities.get(...given),
    listIdentities: (...given) => identities.list(...given),
    updateIdentity: (...given) => identities.update(...given),
    deleteIdentity: (...given) => identities.delete(...given),

    insertKeys: (...given) => newKeys.insert(...given),
    findKey: (...given) => queries.findByHash(...given),
    getKey: (...given) => queries.find(...given),
    listKeys: (...given) => queries.list(...given),
    updateKey: (...given) => keys.update(...given),
    rotateKey: (...given) => keys.rotate(...given),
    // Nothing of a key is kept, whether that is asked for or not.
    deleteKey: (workspaceId, keyId, _, log) => removal.delete(workspaceId, keyId, log),
    deleteKeys: (workspaceId, apiId, limit, _, entryOf) =>
      removal.deleteSome(workspaceId, apiId, limit, entryOf),

    charge: (plan) => rejecting(() => charging.charge(plan)),
    takeFromNamespace: (plan) => rejecting(() => namespaces.take(plan)),

    addVerifications: (...given) => verifications.add(...given),
    getVerifications: (...given) => verifications.get(...given),
    deleteVerifications: (...given) => verifications.delete(...given),

    listChanges: (...given) => changes.list(...given),
    deleteChanges: (...given) => changes.delete(...given),

    close: () => connection.close(),
  };
}

/** What is thrown before anything is sent is a rejection like any other. */
function rejecting<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    return call();
  } catch (error) {
    return Promise.reject(error);
  }
}
