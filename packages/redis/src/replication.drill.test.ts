import { createLatchkey } from "@latchkey/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redisStore } from "./index.js";
import { errorOf, untilAnswered } from "./testing/errors.js";
import { startServer, type TestServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

describeWithServers("a store that waits for replicas", () => {
  let primary: TestServer;
  let replica: TestServer;

  beforeAll(async () => {
    primary = await startServer({ "repl-diskless-sync-delay": "0" });
    replica = await startServer({ replicaof: `127.0.0.1 ${primary.port}` });
  });
  afterAll(async () => {
    await replica.remove();
    await primary.remove();
  });

  test("answers a write once the replica holds it, and leaves it open when the replica is gone", async () => {
    const store = redisStore(primary.url, { waitReplicas: { count: 1, timeoutMs: 200 } });
    const latchkey = createLatchkey({ store });
    const { apiId } = await untilAnswered(() => latchkey.createApi({ name: "payments" }));
    const { key, keyId } = await latchkey.createKey({ apiId, remaining: 10 });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true, remaining: 9 });

    await replica.stop();
    const unknown = { code: "STORE_UNAVAILABLE", outcome: "unknown" };
    expect(await errorOf(latchkey.verifyKey({ key }))).toMatchObject(unknown);
    // The use stays taken: nobody was admitted for it, which is the safe side.
    expect((await latchkey.getKey({ keyId })).remaining).toBe(8);
    await store.close();
    await replica.start();
  });

  test("answers nothing that rests on a write which no replica holds, also where there is nothing left to write", async () => {
    const waiting = { waitReplicas: { count: 1, timeoutMs: 100 } };
    const stores = [redisStore(primary.url, waiting), redisStore(primary.url, waiting)] as const;
    const [latchkey, other] = [
      createLatchkey({ store: stores[0] }),
      createLatchkey({ store: stores[1] }),
    ];
    const { apiId } = await untilAnswered(() => latchkey.createApi({ name: "payments" }));
    const { key, keyId } = await latchkey.createKey({ apiId, remaining: 10 });
    const { keyId: deleted } = await latchkey.createKey({ apiId });
    const verdict = await latchkey.reserve({ key, remaining: { cost: 5 } });
    const reservationId = verdict.valid ? verdict.reservationId : "";
    const calls = [latchkey, other].flatMap((each) => [
      () => each.settle({ reservationId, remaining: { cost: 2 } }),
      () => each.settle({ reservationId, remaining: { cost: 2 } }),
      () => each.updateKey({ keyId, name: "known" }),
      () => each.verifyKey({ key, requestId: "one" }),
      () => each.deleteKey({ keyId: deleted }),
      () => each.deleteKey({ keyId: deleted }),
      () => each.setWorkspaceEnabled(true),
    ]);

    await replica.stop();
    const unknown = { code: "STORE_UNAVAILABLE", outcome: "unknown" };
    for (const call of [...calls, ...calls]) expect(await errorOf(call())).toMatchObject(unknown);

    await replica.start();
    await untilAnswered(() => latchkey.updateKey({ keyId, name: "known" }));
    expect(await errorOf(other.deleteKey({ keyId: deleted }))).toMatchObject({ code: "NOT_FOUND" });
    expect(await other.verifyKey({ key, requestId: "one" })).toMatchObject({ remaining: 7 });
    const settled = { remaining: 8, taken: { uses: 2 } };
    expect(await other.settle({ reservationId, remaining: { cost: 2 } })).toMatchObject(settled);
    for (const store of stores) await store.close();
  });
});
