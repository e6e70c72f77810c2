import type { KeyStore } from "@latchkey/core";
import { createCharges } from "./charge.js";
import { commit } from "./commit.js";
import { assertNeverResends, isCluster, type RedisClient } from "./engine/client.js";
import { Connection } from "./engine/connection.js";
import { openUrl } from "./engine/open.js";
import { Workspace } from "./engine/workspace.js";
import { forget } from "./forget.js";
import { HeldWindows } from "./held-windows.js";
import { listHolds } from "./list-holds.js";
import { parseOptions, type RedisStoreOptions } from "./options.js";
import { page } from "./page.js";
import { read } from "./read.js";
import { scan } from "./scan.js";
import { settle } from "./settle.js";
import { addStatistics, deleteStatistics, readStatistics } from "./statistics.js";

/**
 * Opens a store in Redis. Many processes on many machines may share one, and all promises of `KeyStore` hold among
 * them. Everything of one workspace lives in one hash slot, so that each call is one script on one server, also on a
 * Redis Cluster.
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
  const at = (workspaceId: string) => new Workspace(connection, settings.keyPrefix, workspaceId);
  const held = new HeldWindows();
  const charges = createCharges(connection, at, held);
  return {
    read: (id, ...given) => read(at(id), ...given),
    page: (id, ...given) => page(at(id), ...given),
    commit: (id, ...given) => commit(at(id), ...given),
    charge: charges.charge,
    settle: (id, ...given) => settle(at(id), held, id, ...given),
    holds: (id, ...given) => listHolds(at(id), ...given),
    addStatistics: (id, ...given) => addStatistics(at(id), ...given),
    readStatistics: (id, ...given) => readStatistics(at(id), ...given),
    deleteStatistics: (id, ...given) => deleteStatistics(at(id), ...given),
    scan: (id, after) => scan(at(id ?? ""), id !== null, after),
    forget: (id, after) => forget(at(id), after),
    readClock: () => connection.time(),
    close: () => {
      charges.send();
      return connection.close();
    },
  };
}
