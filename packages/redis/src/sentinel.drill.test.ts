import { createLatchkey, LatchkeyError } from "@latchkey/core";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { redisStore } from "./index.js";
import { isSettledWithin, until, untilAnswered } from "./testing/errors.js";
import { startSentinel } from "./testing/redis-sentinel.js";
import { NEVER_TWICE, PATIENT, startServer } from "./testing/redis-server.js";
import { untilFollowed } from "./testing/replication.js";
import { describeWithServers } from "./testing/where.js";

describeWithServers("a client that asks Sentinel where the primary is", () => {
  test("verifies keys, errs in time while the primary is dead, and goes on with the one that Sentinel chose", async () => {
    const primary = await startServer();
    const replica = await startServer({ replicaof: `127.0.0.1 ${primary.port}` });
    const sentinel = await startSentinel("keys", primary.port);
    const client = new Redis({
      ...NEVER_TWICE,
      sentinels: [{ host: "127.0.0.1", port: sentinel.port }],
      name: "keys",
      sentinelRetryStrategy: () => 50,
      reconnectOnError: (error) => (error.message.startsWith("READONLY") ? 1 : false),
    });
    client.on("error", () => undefined);
    const store = redisStore(client, { commandTimeoutMs: 400, connectTimeoutMs: 10_000 });
    try {
      await untilFollowed(primary);
      await sentinel.untilItKnows(1);
      const latchkey = createLatchkey({ store });
      const patient = createLatchkey({ store: redisStore(client, PATIENT) });
      const { apiId } = await patient.createApi({ name: "payments" });
      const { key } = await patient.createKey({ apiId, remaining: 100 });
      expect(await patient.verifyKey({ key })).toMatchObject({ valid: true, remaining: 99 });
      await untilFollowed(primary);

      const killedAt = performance.now();
      await primary.stop("SIGKILL");
      let late = 0;
      let failed = 0;
      await until(async () => {
        const call = latchkey.verifyKey({ key });
        if (!(await isSettledWithin(400 * 1.125 + 2_000, call))) late += 1;
        const verdict = await call.catch((error: unknown) => {
          expect(error).toBeInstanceOf(LatchkeyError);
          expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
          failed += 1;
          return null;
        });
        return verdict?.valid === true;
      }, 60_000);
      console.info(`Sentinel: calls failed for ${Math.round(performance.now() - killedAt)} ms`);
      expect(failed).toBeGreaterThan(0);
      expect(late).toBe(0);
      expect(await untilAnswered(() => latchkey.verifyKey({ key }))).toMatchObject({ valid: true });
      expect(client.stream.remotePort).toBe(replica.port);
    } finally {
      await store.close();
      client.disconnect();
      await Promise.all([sentinel.remove(), replica.remove(), primary.remove()]);
    }
  });
});
