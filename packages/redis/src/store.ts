import type { KeyStore } from "@latchkey/core";
import { Charges } from "./charge.js";
import { commit } from "./commit.js";
import { assertNeverResends, isCluster, type RedisClient } from "./engine/client.js";
import { Connection } from "./engine/connection.js";
import { Names } from "./engine/names.js";
import { openUrl } from "./engine/open.js";
import { parseOptions, type RedisStoreOptions } from "./options.js";
import { page } from "./page.js";
import { read } from "./read.js";
import { addStatistics, deleteStatistics, readStatistics } from "./statistics.js";

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
  server: string | RedisClient,
  options: RedisStoreOptions = {},
): KeyStore {
  const settings = parseOptions(options);
  const isOwned = typeof server === "string";
  if (!isOwned) assertNeverResends(server);
  const client = isOwned ? openUrl(server, settings) : server;
  if (settings.waitReplicas.count > 0 && isCluster(client)) {
    client.disconnect();
    throw new TypeError('"waitReplicas" is for a single primary: leave it out with Redis Cluster');
  }
  const connection = new Connection(client, isOwned, settings);
  const named = (workspaceId: string) => new Names(settings.keyPrefix, workspaceId);
  const charges = new Charges(connection, named);
  return {
    read: (workspaceId, wants) => read(connection, named(workspaceId), wants),
    page: (workspaceId, want) => page(connection, named(workspaceId), want),
    commit: (workspaceId, change) => commit(connection, named(workspaceId), change),
    charge: (plan, moment) => charges.charge(plan, moment),
    addStatistics: (workspaceId, batch) => addStatistics(connection, named(workspaceId), batch),
    readStatistics: (workspaceId, range) => readStatistics(connection, named(workspaceId), range),
    deleteStatistics: (workspaceId, beforeAt, limit) =>
      deleteStatistics(connection, named(workspaceId), beforeAt, limit),
    readClock: () => connection.time(),
    close: () => {
      charges.send();
      return connection.close();
    },
  };
}
