import type { Redis } from "ioredis";
import { freePort, type ServerOptions, startServer, type TestServer } from "./redis-server.js";
import { untilFollowed } from "./replication.js";

const SLOTS = 16_384;

/** A Redis Cluster for tests. */
export interface TestCluster {
  /** The primaries. */
  readonly servers: readonly TestServer[];
  /** As many as requested, in the order of their primaries. */
  readonly replicas: readonly TestServer[];
  readonly url: string;
  readonly remove: () => Promise<void>;
}

/** Starts primaries that share all slots, and waits until each of them serves its own. */
export async function startCluster(primaries = 3): Promise<TestCluster> {
  return await form(primaries, 0, { "cluster-node-timeout": "2000" });
}

/** Starts primaries with one replica each, which takes over when its primary is gone, and waits until all of them can. */
export async function startReplicatedCluster(
  primaries: number,
  options: ServerOptions = {},
): Promise<TestCluster> {
  const cluster = await form(primaries, primaries, {
    "cluster-node-timeout": "1000",
    ...options,
  });
  await Promise.all(cluster.servers.map((primary) => untilFollowed(primary)));
  return cluster;
}

async function form(primaries: number, replicas: number, options: ServerOptions) {
  const { all, busPorts } = await startAll(primaries + replicas, options);
  const remove = async () => {
    await Promise.all(all.map((server) => server.remove()));
  };
  const servers = all.slice(0, primaries);
  const clients = all.map((server) => server.connect());
  try {
    await Promise.all(
      clients.slice(0, primaries).map((client, number) => {
        const first = Math.ceil((number * SLOTS) / primaries);
        const last = Math.ceil(((number + 1) * SLOTS) / primaries) - 1;
        return client.call("CLUSTER", "ADDSLOTSRANGE", String(first), String(last));
      }),
    );
    // Nodes of one epoch would sort that out among themselves in the seconds in which a test may want one to fail.
    await Promise.all(
      clients.map((client, number) =>
        client.call("CLUSTER", "SET-CONFIG-EPOCH", String(number + 1)),
      ),
    );
    const [seed] = clients as [Redis];
    for (const [number, { port }] of all.entries()) {
      if (number === 0) continue;
      await seed.call("CLUSTER", "MEET", "127.0.0.1", String(port), String(busPorts[number]));
    }
    await Promise.all(clients.map((client) => untilWhole(client, primaries, all.length)));
    await Promise.all(
      clients.slice(primaries).map(async (client, number) => {
        const id = await clients[number]?.call("CLUSTER", "MYID");
        await client.call("CLUSTER", "REPLICATE", String(id));
      }),
    );
  } catch (error) {
    await remove();
    throw error;
  } finally {
    for (const client of clients) client.disconnect();
  }
  return {
    servers,
    replicas: all.slice(primaries),
    url: `redis+cluster://${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}`,
    remove,
  };
}

/** Starts all or none. Tries once more if another process took a port that was free before. */
async function startAll(count: number, options: ServerOptions) {
  for (let attempt = 1; ; attempt += 1) {
    const busPorts = await freePorts(count);
    const starts = await Promise.allSettled(
      busPorts.map((busPort) =>
        startServer({ "cluster-enabled": "yes", "cluster-port": String(busPort), ...options }),
      ),
    );
    const all = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
    if (all.length === count) return { all, busPorts };
    await Promise.all(all.map((server) => server.remove()));
    if (attempt === 3) throw new Error("no Redis Cluster could be started");
  }
}

/** Different ports, since none of them is taken until a server listens. */
async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

async function untilWhole(client: Redis, primaries: number, nodes: number): Promise<void> {
  const signs = ["cluster_state:ok", `cluster_size:${primaries}`, `cluster_known_nodes:${nodes}`];
  for (;;) {
    const info = String(await client.call("CLUSTER", "INFO"));
    if (signs.every((sign) => info.includes(sign))) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
