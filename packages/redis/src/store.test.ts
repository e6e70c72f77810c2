import { randomUUID } from "node:crypto";
import { describeKeyStore } from "@latchkey/conformance";
import type { KeyStore } from "@latchkey/core";
import { Cluster, Redis } from "ioredis";
import { beforeAll } from "vitest";
import { redisStore } from "./index.js";
import { damageBy, type Place } from "./testing/damage.js";
import { startCluster, type TestCluster } from "./testing/redis-cluster.js";
import { NEVER_TWICE, startServer, type TestServer } from "./testing/redis-server.js";
import { afterTests, describeWithRedis, describeWithServers, REDIS_URL } from "./testing/where.js";

/** Whatever the server of REDIS_URL is set to, it holds tests only. */
const LENIENT = {
  allowEviction: true,
  allowNoPersistence: true,
  configTimeoutMs: 20_000,
  commandTimeoutMs: 20_000,
};

const places = new WeakMap<KeyStore, Place>();
const placeOf = (store: KeyStore) => places.get(store) as Place;

/** A store on a client that all tests share, under key names of its own. */
function storeOn(client: Redis | Cluster, keyPrefix = `test:${randomUUID()}`): KeyStore {
  const store = redisStore(client, { ...LENIENT, keyPrefix });
  places.set(store, { client, keyPrefix });
  return store;
}

function describeOn(
  name: string,
  clients: () => readonly [Redis | Cluster, Redis | Cluster],
): void {
  describeKeyStore(name, () => storeOn(clients()[0]), {
    openAgain: (store) => storeOn(clients()[1], placeOf(store).keyPrefix),
    damage: damageBy(placeOf),
  });
}

describeWithRedis("one Redis server", () => {
  let server: TestServer | undefined;
  let clients: [Redis, Redis];

  beforeAll(async () => {
    server = REDIS_URL === null ? await startServer() : undefined;
    const url = REDIS_URL ?? (server as TestServer).url;
    clients = [new Redis(url, NEVER_TWICE), new Redis(url, NEVER_TWICE)];
  });
  afterTests(async () => {
    for (const client of clients) client.disconnect();
    await server?.remove();
  });

  describeOn("one Redis server", () => clients);
});

describeWithServers("a Redis Cluster of three primaries", () => {
  let cluster: TestCluster;
  let clients: [Cluster, Cluster];

  beforeAll(async () => {
    cluster = await startCluster();
    const open = () =>
      new Cluster(
        cluster.servers.map(({ port }) => ({ host: "127.0.0.1", port })),
        {
          enableOfflineQueue: false,
          retryDelayOnFailover: 0,
          redisOptions: { maxRetriesPerRequest: 0 },
        },
      );
    clients = [open(), open()];
    await Promise.all(
      clients.map(
        (client) => new Promise<void>((resolve) => client.once("ready", () => resolve())),
      ),
    );
  });
  afterTests(async () => {
    for (const client of clients) client.disconnect();
    await cluster.remove();
  });

  describeOn("a Redis Cluster", () => clients);
});
