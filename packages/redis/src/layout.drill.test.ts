import { Cluster } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redisStore } from "./index.js";
import { startCluster, type TestCluster } from "./testing/redis-cluster.js";
import { PATIENT } from "./testing/redis-server.js";
import { LIMIT_MS, removeEverything, useEverything } from "./testing/use-everything.js";
import { describeWithServers } from "./testing/where.js";

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

  async function fill(workspaceId: string) {
    const store = redisStore(cluster.url, PATIENT);
    const left = await useEverything(store, workspaceId);
    return { store, left };
  }

  test("all of one workspace have one slot, workspaces spread over the primaries, and no name holds a user's text", async () => {
    const workspaces = Array.from({ length: 12 }, (_, number) => `ws_${number}`);
    for (const workspaceId of workspaces) await (await fill(workspaceId)).store.close();
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
    // Words too long to be in a digest by chance, as three letters once were.
    expect(names.filter((name) => /harbour|tidewaters/.test(name))).toEqual([]);
    const directory = names.filter((name) => name.startsWith("lk:{~"));
    expect(directory).toEqual([expect.stringMatching(/^lk:\{~[\w-]{43}\}:r:rootKeyPointer$/)]);
    expect(names.every((name) => /^lk:\{(~[\w-]{43}|ws_\d+)\}:.+$/.test(name))).toBe(true);
  });

  test("the data of a workspace has these names", async () => {
    const { store } = await fill("ws_names");
    await store.close();
    const own = (await allNames()).filter((name) => name.startsWith("lk:{ws_names}:"));
    const kinds = own.map((name) => /^(r:\w+|\w+)/.exec(name.slice("lk:{ws_names}:".length))?.[0]);
    expect([...new Set(kinds)].toSorted()).toEqual([
      ...["c", "d", "e", "f", "h", "l", "n", "o", "p", "q"],
      ...["r:api", "r:auditEntry", "r:deadline", "r:identity", "r:key", "r:permission", "r:role"],
      ...["r:rootKey", "v", "w"],
    ]);
  });

  test("windows that belong to no configured limit, remembered requests and ends of reservations expire, and nothing else does", async () => {
    await (await fill("ws_expiry")).store.close();
    const names = (await allNames()).filter((name) => name.startsWith("lk:{ws_expiry}:"));
    const spans = await Promise.all(names.map((name) => client.pttl(name)));
    const longest: Record<string, number> = {};
    for (const [number, name] of names.entries()) {
      const kind = name.split(":")[2] as string;
      const span = spans[number] as number;
      if (span !== -1) longest[kind] = Math.max(span, longest[kind] ?? 0);
    }
    expect(Object.keys(longest).toSorted()).toEqual(["f", "p", "q"]);
    expect(longest.f).toBeLessThanOrEqual(86_400_000);
    expect(longest.q).toBeLessThanOrEqual(600_000);
    expect(longest.p).toBeLessThanOrEqual(86_400_000 + LIMIT_MS);
  });

  test("deletion leaves nothing but the revision, the workspace itself and what expires", async () => {
    const { store, left } = await fill("ws_deleted");
    await removeEverything(store, "ws_deleted", left);
    await store.close();
    const own = (await allNames()).filter((name) => name.startsWith("lk:{ws_deleted}:"));
    const kinds = own.map((name) => name.slice("lk:{ws_deleted}:".length));
    const lasting = kinds.filter((name) => !/^[fpq]:/.test(name));
    expect(lasting.toSorted()).toEqual(["r:workspace", "w"]);
  });
});
