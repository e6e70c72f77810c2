import { createLatchkey } from "@latchkey/core";
import { Cluster } from "ioredis";
import { expect, test } from "vitest";
import { redisStore } from "../index.js";
import { until } from "../testing/errors.js";
import { startReplicatedCluster } from "../testing/redis-cluster.js";
import { describeWithServers } from "../testing/where.js";

describeWithServers("a replica of a Redis Cluster that takes over", () => {
  test("is examined before it is trusted with keys", async () => {
    const cluster = await startReplicatedCluster(1);
    const client = new Cluster(
      cluster.servers.map(({ port }) => ({ host: "127.0.0.1", port })),
      {
        enableOfflineQueue: false,
        retryDelayOnFailover: 0,
        slotsRefreshInterval: 100,
        redisOptions: { maxRetriesPerRequest: 0 },
      },
    );
    const store = redisStore(client, { commandTimeoutMs: 400 });
    const [replica] = cluster.replicas;
    const control = replica?.connect();
    try {
      const latchkey = createLatchkey({ store });
      const { apiId } = await latchkey.createApi({ name: "payments" });
      const { key } = await latchkey.createKey({ apiId });
      expect((await latchkey.verifyKey({ key })).valid).toBe(true);
      // The client has known this replica for long, so its takeover is no event for it.
      await until(async () => client.nodes("slave").length === 1);
      await latchkey.verifyKey({ key });
      await control?.config("SET", "maxmemory-policy", "allkeys-lru");
      await control?.call("CLUSTER", "FAILOVER", "TAKEOVER");
      await until(async () => String(await control?.role()).startsWith("master"));
      const complaint = () =>
        latchkey.verifyKey({ key }).then(
          () => "",
          (error: Error) => error.message,
        );
      await until(async () => (await complaint()).includes("maxmemory-policy"));
      await control?.config("SET", "maxmemory-policy", "noeviction");
      await until(async () => (await complaint()) === "");
    } finally {
      control?.disconnect();
      await store.close();
      client.disconnect();
      await cluster.remove();
    }
  });
});
