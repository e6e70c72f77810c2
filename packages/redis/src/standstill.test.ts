import { once } from "node:events";
import { aChange, aMoment, aPlan, aRecord, usesOf, WORKSPACE } from "@latchkey/conformance";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redisStore } from "./index.js";
import { startCluster, type TestCluster } from "./testing/redis-cluster.js";
import { NEVER_TWICE, PATIENT, startServer, type TestServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

/** What a stopped process and a frozen container have in common: nothing runs, and clocks go on. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Longer than a verification may take, and longer than a connection may be silent. */
const [LONG_MS, VERY_LONG_MS] = [1_000, 6_000];

async function putKey(url: string): Promise<void> {
  const store = redisStore(url, PATIENT);
  const record = aRecord("key", 1);
  await store.commit(WORKSPACE, aChange({ deletes: [{ kind: "key", id: record.id }] }));
  const puts = [{ record, counters: { usage: usesOf(10) } }];
  await store.commit(WORKSPACE, aChange({ puts }));
  await store.close();
}

describeWithServers("a process that stands still while it uses Redis", () => {
  let server: TestServer;
  let cluster: TestCluster;

  beforeAll(async () => {
    [server, cluster] = await Promise.all([startServer(), startCluster()]);
  });
  afterAll(() => Promise.all([server.remove(), cluster.remove()]));

  test.each([
    ["Redis", () => server.url],
    ["Redis Cluster", () => cluster.url],
  ])(
    "after a charge was sent to %s gets the answer that came meanwhile, and stays connected",
    async (_, urlOf) => {
      await putKey(urlOf());
      const store = redisStore(urlOf());
      const connect = () => store.charge(aPlan({ mode: "peek" }), aMoment());
      await expect.poll(connect).toMatchObject({ kind: "charged" });
      // By then the servers are examined that a cluster client finds out about after the first.
      for (let count = 0; count < 100; count += 1) await connect();
      const charged = store.charge(aPlan(), aMoment());
      await new Promise((resolve) => setImmediate(resolve));
      standStill(VERY_LONG_MS);
      expect(await charged).toMatchObject({ kind: "charged", remaining: 9 });
      expect(await store.charge(aPlan(), aMoment())).toMatchObject({ remaining: 8 });
      await store.close();
    },
    30_000,
  );

  test("before a charge is sent takes nothing, and says so", async () => {
    await putKey(server.url);
    const client = new Redis(server.port, "127.0.0.1", NEVER_TWICE);
    await once(client, "ready");
    const store = redisStore(client);
    // The server is examined first.
    const charged = store.charge(aPlan(), aMoment());
    await new Promise((resolve) => setImmediate(resolve));
    standStill(LONG_MS);
    const refusal = { code: "STORE_UNAVAILABLE", outcome: "not-applied" };
    await expect(charged).rejects.toMatchObject(refusal);
    expect(await store.charge(aPlan(), aMoment())).toMatchObject({ remaining: 9 });
    client.disconnect();
  });
});
