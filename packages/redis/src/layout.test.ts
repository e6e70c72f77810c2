import { createLatchkey } from "@latchkey/core";
import { Cluster } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redisStore } from "./index.js";
import { startCluster, type TestCluster } from "./testing/redis-cluster.js";
import { describeWithServers } from "./testing/where.js";

const SECRET_TEXT = "J. Doe {evil}";

describeWithServers("names of keys in Redis", () => {
  let cluster: TestCluster;
  let client: Cluster;

  beforeAll(async () => {
    cluster = await startCluster();
    client = new Cluster(cluster.servers.map(({ port }) => ({ host: "127.0.0.1", port })));
    client.on("error", () => undefined);
  });
  afterAll(async () => {
    client.disconnect();
    await cluster.remove();
  });

  async function allNames(): Promise<string[]> {
    const names = await Promise.all(client.nodes("master").map((node) => node.keys("*")));
    return names.flat();
  }

  async function fill(workspaceId: string): Promise<void> {
    const store = redisStore(cluster.url);
    const latchkey = createLatchkey({ store, workspaceId });
    const { apiId } = await latchkey.createApi({ name: SECRET_TEXT });
    await latchkey.createPermission({ name: "docs.read" });
    await latchkey.createRole({ name: "reader", permissions: ["docs.read"] });
    await latchkey.createRootKey({ permissions: ["*"] });
    const { key } = await latchkey.createKey({
      apiId,
      externalId: SECRET_TEXT,
      remaining: 5,
      meta: { text: "m".repeat(100) },
      roles: ["reader"],
      ratelimit: { limit: 5, duration: 1_000 },
    });
    const ratelimits = [{ name: SECRET_TEXT, limit: 5, duration: 1_000 }];
    expect((await latchkey.verifyKey({ key, ratelimits, requestId: SECRET_TEXT })).valid).toBe(
      true,
    );
    await store.close();
  }

  test("all of one workspace have one slot, workspaces spread over the primaries, and no name holds a user's text", async () => {
    const workspaces = Array.from({ length: 12 }, (_, number) => `ws_${number}`);
    for (const workspaceId of workspaces) await fill(workspaceId);
    const names = await allNames();
    const slotsOf = async (prefix: string) => {
      const own = names.filter((name) => name.startsWith(prefix));
      expect(own.length).toBeGreaterThan(12);
      return new Set(await Promise.all(own.map((name) => client.cluster("KEYSLOT", name))));
    };
    const slots = await Promise.all(workspaces.map((id) => slotsOf(`lk:{${id}}:`)));
    expect(slots.map(({ size }) => size)).toEqual(workspaces.map(() => 1));
    const primaries = new Set(
      slots.flatMap((own) => [...own].map((slot) => Math.floor((slot * 3) / 16_384))),
    );
    expect(primaries.size).toBe(3);
    expect(names.filter((name) => /Doe|evil/.test(name))).toEqual([]);
    const pointers = names.filter((name) => name.startsWith("lk:{r:"));
    expect(pointers).toHaveLength(workspaces.length);
    expect(names.every((name) => /^lk:\{(r:[^}]+\}|ws_\d+\}:.+)$/.test(name))).toBe(true);
  });

  test("windows that requests made up and remembered requests expire, and nothing else does", async () => {
    await fill("ws_expiry");
    const names = (await allNames()).filter((name) => name.startsWith("lk:{ws_expiry}:"));
    const expiring = await Promise.all(
      names.map(async (name) => [name, await client.pttl(name)] as const),
    );
    const byKind = expiring
      .filter(([, ttl]) => ttl > 0)
      .map(([name, ttl]) => [name.split(":")[2], ttl] as const);
    expect(byKind.map(([kind]) => kind).toSorted()).toEqual(["a", "q"]);
    expect(Object.fromEntries(byKind).q).toBeLessThanOrEqual(600_000);
    expect(Object.fromEntries(byKind).a).toBeLessThanOrEqual(86_401_000);
    expect(expiring.filter(([, ttl]) => ttl === -1)).toHaveLength(names.length - 2);
  });
});
