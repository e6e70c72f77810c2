import { createLatchkey } from "@latchkey/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgresStore } from "./index.js";
import { startServer, type TestServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

describeWithServers("closing a store with a pool of its own", () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer({ fsync: "off", jit: "off" });
  });
  afterAll(() => server?.remove());

  test("calls that wait for a connection finish first", async () => {
    const latchkey = createLatchkey({ store: postgresStore(server.url, { schema: "closing" }) });
    const { apiId } = await latchkey.createApi({ name: "tides" });
    for (let made = 0; made < 30; made += 1) await latchkey.createKey({ apiId });
    const startedAt = performance.now();
    // Four times as many as there are connections.
    const listed = Promise.allSettled(
      Array.from({ length: 40 }, () => latchkey.listKeys({ apiId, limit: 1 })),
    );
    await latchkey.close();
    const settled = await listed;
    // Each asks more than once: those that had not asked a second time by then are refused at once.
    const failures = settled.flatMap((one) =>
      one.status === "rejected" ? [one.reason.message] : [],
    );
    expect([...new Set(failures)].filter((message) => message !== "the store was closed")).toEqual(
      [],
    );
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  });

  test("each call of the store itself finishes, and later ones are refused", async () => {
    const store = postgresStore(server.url, { schema: "closing" });
    const calls = Array.from({ length: 40 }, () => store.read("ws_default", []));
    const closed = Promise.all([store.close(), store.close()]);
    const late = store.read("ws_default", []);
    await expect(late).rejects.toMatchObject({ message: "the store was closed" });
    expect((await Promise.allSettled(calls)).map(({ status }) => status)).toEqual(
      calls.map(() => "fulfilled"),
    );
    await closed;
  });
});
