import { createLatchkey, type KeyStore } from "@latchkey/core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { redisStore } from "./index.js";
import { errorOf, until } from "./testing/errors.js";
import { type FaultyLink, startProxy } from "./testing/proxy.js";
import { PATIENT, startServer, type TestServer } from "./testing/redis-server.js";
import { demote, promote, untilFollowed } from "./testing/replication.js";
import { describeWithServers } from "./testing/where.js";

const UNKNOWN = { code: "STORE_UNAVAILABLE", outcome: "unknown" };

describeWithServers("a call that waits for replicas", () => {
  let primary: TestServer;
  let replica: TestServer;
  let link: FaultyLink;
  let store: KeyStore;

  beforeAll(async () => {
    primary = await startServer();
    replica = await startServer({ replicaof: `127.0.0.1 ${primary.port}` });
  });
  afterAll(async () => {
    await replica.remove();
    await primary.remove();
  });
  beforeEach(async () => {
    await untilFollowed(primary);
    link = await startProxy(primary.port);
    const waitReplicas = { count: 1, timeoutMs: 60_000 };
    store = redisStore(link.url, { ...PATIENT, waitReplicas });
  });
  afterEach(async () => {
    replica.signal("SIGCONT");
    await store.close();
    await link.close();
  });

  async function issueKey() {
    const latchkey = createLatchkey({ store });
    const { apiId } = await latchkey.createApi({ name: "payments" });
    const { key, keyId } = await latchkey.createKey({ apiId, remaining: 10 });
    return { latchkey, key, keyId };
  }

  /** Waits until the server blocks a client that asked for replicas. */
  async function untilWaiting(): Promise<void> {
    const control = primary.connect();
    await until(async () => /blocked_clients:[1-9]/.test(await control.info("clients")));
    control.disconnect();
  }

  test("ends with the outcome unknown when the connection breaks, because the use is taken", async () => {
    const { latchkey, key } = await issueKey();
    await latchkey.verifyKey({ key });
    replica.signal("SIGSTOP");
    const call = errorOf(latchkey.verifyKey({ key }));
    await untilWaiting();
    link.cut();
    expect(await call).toMatchObject(UNKNOWN);
  });

  test("ends with the outcome unknown when the primary becomes a replica", async () => {
    const { latchkey, key, keyId } = await issueKey();
    await latchkey.verifyKey({ key });
    replica.signal("SIGSTOP");
    const charge = errorOf(latchkey.verifyKey({ key }));
    const change = errorOf(latchkey.updateKey({ keyId, enabled: false }));
    await untilWaiting();
    const other = await startServer();
    try {
      await demote(primary, other.port);
      expect(await charge).toMatchObject(UNKNOWN);
      expect((await change).code).toBe("STORE_UNAVAILABLE");
    } finally {
      await promote(primary);
      await other.remove();
    }
  });

  test("ends with the outcome unknown when its user may write, but not ask for replicas", async () => {
    const { key } = await issueKey();
    const control = primary.connect();
    await control.acl("SETUSER", "no-wait", "on", ">secret", "~*", "+@all", "-wait");
    control.disconnect();
    const waitReplicas = { count: 1, timeoutMs: 60_000 };
    const url = primary.url.replace("//", "//no-wait:secret@");
    const refused = redisStore(url, { ...PATIENT, waitReplicas });
    const error = await errorOf(createLatchkey({ store: refused }).verifyKey({ key }));
    await refused.close();
    expect(error).toMatchObject(UNKNOWN);
    expect(error.message).toContain("lacks a permission");
  });
});
