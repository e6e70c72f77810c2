import type { Redis } from "ioredis";
import { startServer, type TestServer } from "./redis-server.js";

const SLOTS = 16_384;

/** A Redis Cluster of the tests' own. */
export interface TestCluster {
  readonly servers: readonly TestServer[];
  readonly url: string;
  readonly remove: () => Promise<void>;
}

/** Starts primaries without replicas that share all slots, and waits until each of them serves its own. */
export async function startCluster(primaries = 3): Promise<TestCluster> {
  const servers = await Promise.all(
    Array.from({ length: primaries }, () =>
      startServer({ "cluster-enabled": "yes", "cluster-node-timeout": "2000" }),
    ),
  );
  const clients = servers.map((server) => server.connect());
  try {
    await Promise.all(
      clients.map((client, number) => {
        const first = Math.ceil((number * SLOTS) / primaries);
        const last = Math.ceil(((number + 1) * SLOTS) / primaries) - 1;
        return client.call("CLUSTER", "ADDSLOTSRANGE", String(first), String(last));
      }),
    );
    const [seed] = clients as [Redis];
    for (const { port } of servers.slice(1)) {
      await seed.call("CLUSTER", "MEET", "127.0.0.1", String(port));
    }
    await Promise.all(clients.map((client) => untilWhole(client, primaries)));
  } finally {
    for (const client of clients) client.disconnect();
  }
  return {
    servers,
    url: `redis+cluster://${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}`,
    remove: async () => {
      await Promise.all(servers.map((server) => server.remove()));
    },
  };
}

async function untilWhole(client: Redis, primaries: number): Promise<void> {
  for (;;) {
    const info = String(await client.call("CLUSTER", "INFO"));
    const isWhole = info.includes("cluster_state:ok") && info.includes(`cluster_size:${primaries}`);
    if (isWhole) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
