import { createLatchkey, type KeyStore } from "@latchkey/core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { redisStore } from "./index.js";
import { errorOf, isSettledWithin, until, untilAnswered } from "./testing/errors.js";
import { PATIENT, startServer, type TestServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

const UNAVAILABLE = { code: "STORE_UNAVAILABLE" };
const NOT_APPLIED = { ...UNAVAILABLE, outcome: "not-applied" };
const UNKNOWN = { ...UNAVAILABLE, outcome: "unknown" };
/** A store with one key that has uses left. */
async function openWithKey(url: string) {
  const store = redisStore(url, PATIENT);
  const latchkey = createLatchkey({ store });
  const { apiId } = await latchkey.createApi({ name: "payments" });
  const { key, keyId } = await latchkey.createKey({ apiId, remaining: 1_000 });
  const left = async () => (await latchkey.getKey({ keyId })).remaining;
  return { store, latchkey, apiId, key, keyId, left };
}

describeWithServers("a Redis server in trouble", () => {
  let server: TestServer;
  const stores: KeyStore[] = [];

  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.remove());
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
  });

  async function open() {
    const made = await openWithKey(server.url);
    stores.push(made.store);
    return made;
  }

  test("stopped without a word: a charge is answered within its deadline, outcome unknown, and the store recovers", async () => {
    const { key } = await open();
    const timeouts = { commandTimeoutMs: 1_000, configTimeoutMs: 1_000 };
    const store = redisStore(server.url, timeouts);
    stores.push(store);
    const latchkey = createLatchkey({ store });
    expect((await untilAnswered(() => latchkey.verifyKey({ key }))).valid).toBe(true);
    server.signal("SIGSTOP");
    const calls = Promise.all([
      errorOf(latchkey.verifyKey({ key })),
      errorOf(latchkey.verifyKey({ key: `${key.slice(0, -1)}` })),
    ]);
    const isInTime = await isSettledWithin(timeouts.commandTimeoutMs * 1.5 + 200, calls);
    const errors = await calls;
    server.signal("SIGCONT");
    expect(errors[0]).toMatchObject(UNKNOWN);
    expect(errors[1]).toMatchObject(NOT_APPLIED);
    expect(isInTime).toBe(true);
    expect((await untilAnswered(() => latchkey.verifyKey({ key }))).valid).toBe(true);
  });

  test("killed and started again: calls fail at once, then the same store goes on with the same keys", async () => {
    // With everysec, an answered write may still be inside the process while a sync to the disk is slow.
    const control = server.connect();
    await control.config("SET", "appendfsync", "always");
    control.disconnect();
    const { latchkey, key, left } = await open();
    await latchkey.verifyKey({ key });
    await server.stop("SIGKILL");
    const outcome = () => latchkey.verifyKey({ key }).catch((error) => error.outcome);
    await until(async () => (await outcome()) === "not-applied");
    const error = errorOf(latchkey.verifyKey({ key }));
    expect(await isSettledWithin(100, error)).toBe(true);
    expect(await error).toMatchObject(NOT_APPLIED);
    await server.start();
    expect(await untilAnswered(left)).toBe(999);
    expect((await latchkey.verifyKey({ key })).valid).toBe(true);
  });

  test("made a replica: nothing is written and nothing is read, until it is a primary again", async () => {
    const other = await startServer();
    const control = server.connect();
    try {
      const { store, latchkey, key } = await open();
      await latchkey.verifyKey({ key });
      await control.replicaof("127.0.0.1", other.port);
      const first = await errorOf(latchkey.verifyKey({ key }));
      expect(first).toMatchObject(NOT_APPLIED);
      expect(first.message).toMatch(/READONLY|replica/);
      expect(await errorOf(store.read("ws_default", []))).toMatchObject(NOT_APPLIED);
      await control.replicaof("NO", "ONE");
      await untilAnswered(() => store.read("ws_default", []));
    } finally {
      control.disconnect();
      await other.remove();
    }
  });

  test("out of memory: a charge takes nothing, and keys can still be read and deleted", async () => {
    const { latchkey, key, keyId, apiId, left } = await open();
    await latchkey.verifyKey({ key });
    const control = server.connect();
    try {
      await control.config("SET", "maxmemory", "1");
      const error = await errorOf(latchkey.verifyKey({ key }));
      expect(error).toMatchObject(NOT_APPLIED);
      expect(error.message).toContain("OOM");
      expect(await errorOf(latchkey.createKey({ apiId }))).toMatchObject(NOT_APPLIED);
      expect(await left()).toBe(999);
      await latchkey.deleteKey({ keyId });
      await control.config("SET", "maxmemory", "0");
      expect(await latchkey.verifyKey({ key })).toEqual({ valid: false, code: "NOT_FOUND" });
    } finally {
      await control.config("SET", "maxmemory", "0");
      control.disconnect();
    }
  });

  test("with its scripts flushed again and again: every use is taken once", async () => {
    const { latchkey, key, left } = await open();
    const control = server.connect();
    const flushing = setInterval(() => control.script("FLUSH").catch(() => undefined), 5);
    const verdicts = await inParallel(1_500, 32, () => latchkey.verifyKey({ key }));
    clearInterval(flushing);
    control.disconnect();
    expect(verdicts.filter(({ valid }) => valid)).toHaveLength(1_000);
    expect(await left()).toBe(0);
  });
});

async function inParallel<Answer>(
  count: number,
  width: number,
  call: () => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  let started = 0;
  const run = async () => {
    while (started < count) {
      started += 1;
      answers.push(await call());
    }
  };
  await Promise.all(Array.from({ length: width }, run));
  return answers;
}

describe("an address where nothing answers", () => {
  test("is refused within the time for connecting", async () => {
    const store = redisStore("redis://127.0.0.1:1", { connectTimeoutMs: 2_000 });
    const error = errorOf(store.read("ws_default", []));
    expect(await isSettledWithin(2_500, error)).toBe(true);
    expect(await error).toMatchObject(NOT_APPLIED);
    await store.close();
  });
});
