import { aChange, aMoment, aPlan, aRecord, usesOf, WORKSPACE } from "@latchkey/conformance";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { redisStore } from "../index.js";
import { errorOf, until } from "../testing/errors.js";
import { NEVER_TWICE, PATIENT, startServer, type TestServer } from "../testing/redis-server.js";
import { describeWithServers } from "../testing/where.js";
import { translateError } from "./errors.js";

describeWithServers("a client that the application uses as well", () => {
  let server: TestServer;
  let count = 0;
  beforeAll(async () => {
    server = await startServer({ databases: "16" });
  });
  afterAll(() => server.remove());

  /** A client, and on it a store that has a key with ten uses. */
  async function open(options: object = {}) {
    const client = new Redis({ ...NEVER_TWICE, port: server.port, ...options });
    client.on("error", () => undefined);
    onTestFinished(() => client.disconnect());
    count += 1;
    const store = redisStore(client, { ...PATIENT, keyPrefix: `lk${count}` });
    const puts = [{ record: aRecord("key", 1), counters: { usage: usesOf(10) } }];
    await store.commit(WORKSPACE, aChange({ puts }));
    await store.charge(aPlan(), aMoment());
    return { client, store };
  }

  test("inside a MULTI, every call says so: a write may still be carried out, a read never matters", async () => {
    const { client, store } = await open();
    await client.multi({ pipeline: false });
    const write = await errorOf(Promise.resolve(store.charge(aPlan(), aMoment())));
    const read = await errorOf(Promise.resolve(store.read(WORKSPACE, [])));
    expect(write).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "unknown" });
    expect(read).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
    for (const { message } of [write, read]) expect(message).toContain("MULTI of its owner");
    await client.exec();
    expect(await store.charge(aPlan(), aMoment())).toMatchObject({ remaining: 7 });
  });

  test("inside a MULTI when the store is opened, the first call says so", async () => {
    const client = new Redis({ ...NEVER_TWICE, port: server.port });
    onTestFinished(() => client.disconnect());
    await until(async () => client.status === "ready");
    await client.multi({ pipeline: false });
    const error = await errorOf(Promise.resolve(redisStore(client).read(WORKSPACE, [])));
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
    expect(error.message).toContain("MULTI of its owner");
  });

  test.each([0, 3])(
    "with another database selected than %i, every call says so until it is selected again",
    async (db) => {
      const { client, store } = await open({ db });
      await client.select(5);
      for (const call of [store.charge(aPlan(), aMoment()), store.commit(WORKSPACE, aChange())]) {
        const error = await errorOf(Promise.resolve(call));
        expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
        expect(error.message).toContain("selected database 5");
      }
      expect(await client.dbsize()).toBe(0);
      await client.select(db);
      expect(await store.charge(aPlan(), aMoment())).toMatchObject({ remaining: 8 });
    },
  );

  test("a verification names a right that was taken away", async () => {
    const control = server.connect();
    onTestFinished(() => control.disconnect());
    await control.call("ACL", "SETUSER", "narrow", "on", ">pw", "~*", "+@all");
    const { store } = await open({ username: "narrow", password: "pw" });
    await control.call("ACL", "SETUSER", "narrow", "-hset");
    const error = await errorOf(Promise.resolve(store.charge(aPlan(), aMoment())));
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "unknown" });
    expect(error.message).toContain("(NOPERM)");
  });
});

// The messages of ioredis 5. In the protocol of ioredis 6, a connection may do both.
test.each([
  "Connection in subscriber mode, only subscriber commands may be used",
  "Connection is in monitoring mode, can't process commands.",
])("a client that listens is told apart from a lost connection: %s", (text) => {
  const error = translateError(new Error(text), true);
  expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
  expect(error.message).toContain("a client of its own");
});
