import { createLatchkey, type KeyStore } from "@latchkey/core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { redisStore } from "./index.js";
import { errorOf, until, untilAnswered } from "./testing/errors.js";
import { startServer, type TestServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

const UNAVAILABLE = { code: "STORE_UNAVAILABLE" };
const NOT_APPLIED = { ...UNAVAILABLE, outcome: "not-applied" };
const UNKNOWN = { ...UNAVAILABLE, outcome: "unknown" };
const TIMEOUTS = { commandTimeoutMs: 200, configTimeoutMs: 200, connectTimeoutMs: 1_000 };

/** A store with one key that has uses to spend. */
async function openWithKey(url: string) {
  const store = redisStore(url, TIMEOUTS);
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
    const { latchkey, key } = await open();
    expect((await latchkey.verifyKey({ key })).valid).toBe(true);
    server.signal("SIGSTOP");
    const before = performance.now();
    const errors = await Promise.all([
      errorOf(latchkey.verifyKey({ key })),
      errorOf(latchkey.verifyKey({ key: `${key.slice(0, -1)}` })),
    ]);
    const took = performance.now() - before;
    server.signal("SIGCONT");
    expect(errors[0]).toMatchObject(UNKNOWN);
    expect(errors[1]).toMatchObject(NOT_APPLIED);
    expect(took).toBeLessThan(TIMEOUTS.commandTimeoutMs * 1.5 + 200);
    expect((await untilAnswered(() => latchkey.verifyKey({ key }))).valid).toBe(true);
  });

  test("killed and started again: calls fail at once, then the same store goes on with the same keys", async () => {
    // With everysec, what was answered while a sync to the disk is slow may not have left the process yet.
    const control = server.connect();
    await control.config("SET", "appendfsync", "always");
    control.disconnect();
    const { latchkey, key, left } = await open();
    await latchkey.verifyKey({ key });
    await server.stop("SIGKILL");
    const outcome = () => latchkey.verifyKey({ key }).catch((error) => error.outcome);
    await until(async () => (await outcome()) === "not-applied");
    const before = performance.now();
    expect(await errorOf(latchkey.verifyKey({ key }))).toMatchObject(NOT_APPLIED);
    expect(performance.now() - before).toBeLessThan(100);
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
      expect(await errorOf(store.getWorkspace("ws_default"))).toMatchObject(NOT_APPLIED);
      await control.replicaof("NO", "ONE");
      await untilAnswered(() => store.getWorkspace("ws_default"));
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

  test("with a value of another type at any key: a call is answered as ever, or refused with nothing written", async () => {
    const { store, latchkey, apiId, keyId } = await open();
    await latchkey.createRole({ name: "reader", permissions: [] });
    await latchkey.createPermission({ name: "docs.read" });
    const control = server.connect();
    /** All that the server holds, by name, in a form that can be compared and put back. */
    const dump = async () => {
      const names = (await control.keys("lk:*")).toSorted();
      const values = await Promise.all(names.map((name) => control.dumpBuffer(name)));
      return names.map((name, number) => [name, values[number]?.toString("hex") ?? ""] as const);
    };
    const putBack = async (held: Awaited<ReturnType<typeof dump>>) => {
      await control.flushall();
      await Promise.all(
        held.map(([name, value]) => control.restore(name, 0, Buffer.from(value, "hex"))),
      );
    };
    const loaded = await store.getKey("ws_default", keyId);
    if (loaded === null) throw new Error("the key is gone");
    const { key, usage } = loaded;
    const newRecord = (id: string, name: string) => ({
      id,
      workspaceId: "ws_default",
      name,
      description: null,
      createdAt: 1,
    });
    const identityOf = (id: string) => ({
      id,
      workspaceId: "ws_default",
      externalId: id,
      meta: {},
      ratelimits: [],
      createdAt: 1,
      version: 1,
    });
    const grantsOf = (name: string) => ({
      roles: [{ kind: "name" as const, name, orCreate: newRecord(`role_${name}`, name) }],
      permissions: [{ kind: "name" as const, name, orCreate: newRecord(`perm_${name}`, name) }],
    });
    const writes = [
      (tag: string) =>
        store.insertKey({
          key: {
            ...key,
            id: `key_${tag}`,
            hash: `hash-${tag}`,
            apiId,
            sealedSecret: "s".repeat(100),
          },
          usage,
          identity: identityOf(`id_${tag}`),
          grants: grantsOf(tag),
        }),
      (tag: string) =>
        store.updateKey("ws_default", keyId, key.version, {
          identity: identityOf(`id_${tag}`),
          grants: grantsOf(tag),
          meta: { text: "m".repeat(100) },
        }),
      (tag: string) => store.insertIdentity(identityOf(`id_${tag}`)),
      (tag: string) => store.insertPermission(newRecord(`perm_${tag}`, tag)),
      (tag: string) => store.insertRole(newRecord(`role_${tag}`, tag), grantsOf(tag).permissions),
      () => store.setWorkspaceEnabled("ws_default", true),
      () => store.deleteKey("ws_default", keyId, 1),
    ];
    const fixed = [
      "w",
      "apis",
      "roles",
      "role-names",
      "permissions",
      "permission-names",
      "identities",
      "external-ids",
      "identity-list",
      "key-hashes",
      "key-list",
      "identity-key-list",
    ];
    const own = [
      `k:${key.hash}`,
      `x:${key.hash}`,
      "k:hash-planted",
      "x:hash-planted",
      "i:id_planted",
    ];
    const whole = await dump();
    const refused: number[] = [];
    for (const [number, write] of writes.entries()) {
      refused[number] = 0;
      for (const name of [...fixed, ...own].map((end) => `lk:{ws_default}:${end}`)) {
        await control.del(name);
        await control.lpush(name, "planted");
        const before = await dump();
        const error = await write("planted").then(
          () => null,
          (reason: unknown) => reason,
        );
        if (error !== null) {
          refused[number] += 1;
          expect(error).toMatchObject({ code: "STORE_CORRUPT" });
          expect(await dump(), `write ${number} at ${name}`).toEqual(before);
        }
        await putBack(whole);
      }
    }
    control.disconnect();
    // Every key that each write is given, but for those that it only deletes, and a record that is in the way of a
    // new one: that is a hash that is taken.
    expect(refused).toEqual([12, 13, 4, 2, 4, 1, 5]);
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

describe("an address that nobody answers at", () => {
  test("is refused within the time for connecting", async () => {
    const store = redisStore("redis://127.0.0.1:1", TIMEOUTS);
    const before = performance.now();
    expect(await errorOf(store.getWorkspace("ws_default"))).toMatchObject(NOT_APPLIED);
    expect(performance.now() - before).toBeLessThan(TIMEOUTS.connectTimeoutMs + 500);
    await store.close();
  });
});
