import { Cluster } from "ioredis";
import { beforeAll } from "vitest";
import { describeContract } from "./testing/contract.js";
import { startCluster, type TestCluster } from "./testing/redis-cluster.js";
import { afterTests, describeWithServers } from "./testing/where.js";

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

  // One server runs all sequences, with the same scripts.
  describeContract("a Redis Cluster", () => clients, { shareOfSequences: 0.25 });
});
