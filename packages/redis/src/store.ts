import type { KeyStore } from "@latchkey/core";
import { createCharges } from "./charge.js";
import { commit } from "./commit.js";
import { assertClient, isCluster, type RedisClient } from "./engine/client.js";
import { Connection } from "./engine/connection.js";
import { openUrl } from "./engine/open.js";
import { Workspace } from "./engine/workspace.js";
import { forget } from "./forget.js";
import { holdsOf } from "./holds.js";
import { parseOptions, type RedisStoreOptions } from "./options.js";
import { page } from "./page.js";
import { read } from "./read.js";
import { scan, scanWindows } from "./scan.js";
import { statisticsOf } from "./statistics.js";

/**
 * Opens a store in Redis. Many processes on many machines may share it. A workspace is in one hash slot, so each call is one script on
 * one server, on a Redis Cluster as well.
 *
 * @param server - `redis://`, `rediss://`, `redis+cluster://a:6379,b:6379` or `rediss+cluster://…`; or a client of ioredis that never
 * resends a command. The store does not close a client that you pass.
 * @throws TypeError naming the wrong option of the store or the client.
 * @see packages/core/decisions/0012-redis-one-slot-per-workspace.md
 */
export function redisStore(
  server: string | RedisClient,
  options: RedisStoreOptions = {},
): KeyStore {
  const settings = parseOptions(options);
  const isOwned = typeof server === "string";
  if (!isOwned) assertClient(server);
  const client = isOwned ? openUrl(server, settings) : server;
  if (settings.waitReplicas.count > 0 && isCluster(client)) {
    client.disconnect();
    throw new TypeError('"waitReplicas" is for a single primary: leave it out with Redis Cluster');
  }
  const connection = new Connection(client, isOwned, settings);
  const at = (workspaceId: string) => new Workspace(connection, settings.keyPrefix, workspaceId);
  const charges = createCharges(connection, at);
  return {
    read: (id, ...given) => read(at(id), ...given),
    page: (id, ...given) => page(at(id), ...given),
    commit: (id, ...given) => commit(at(id), ...given),
    charge: charges.charge,
    countsInStep: true,
    ...holdsOf(at),
    ...statisticsOf(at),
    scan: (id, after) => scan(at(id ?? ""), id !== null, after),
    scanWindows: (after) => scanWindows(at(""), after),
    forget: (id, after) => forget(at(id), after),
    readClock: () => connection.time(),
    close: () => {
      charges.send();
      return connection.close();
    },
  };
}
