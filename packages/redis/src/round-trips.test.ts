import { createLatchkey } from "@latchkey/core";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redisStore } from "./index.js";
import { PATIENT, startServer, type TestServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

describeWithServers("what a verification costs on the wire", () => {
  let server: TestServer;
  let monitor: Redis;
  let commands: string[] = [];

  beforeAll(async () => {
    server = await startServer();
    monitor = await server.connect().monitor();
    // The commands of a script inside the server are not on the wire.
    monitor.on("monitor", (_time: string, [command]: string[], source: string) => {
      if (source !== "lua") commands.push((command as string).toLowerCase());
    });
  });
  afterAll(async () => {
    monitor.disconnect();
    await server.remove();
  });

  /** Commands that arrive during the work. */
  async function commandsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
    await settle();
    commands = [];
    await work();
    await settle();
    return commands;
  }

  /** Waits until the monitor has reported everything that was sent before. */
  async function settle(): Promise<void> {
    const marker = server.connect();
    commands = commands.filter((command) => command !== "echo");
    await marker.echo("marker");
    while (!commands.includes("echo")) await new Promise((resolve) => setTimeout(resolve, 5));
    marker.disconnect();
    const isOfMarker = (command: string) => ["echo", "hello", "client", "info"].includes(command);
    commands = commands.filter((command) => !isOfMarker(command));
  }

  async function issueKey() {
    const store = redisStore(server.url, PATIENT);
    const latchkey = createLatchkey({ store });
    const { apiId } = await latchkey.createApi({ name: "payments" });
    const limited = {
      remaining: 100,
      ratelimit: { limit: 100, duration: 60_000 },
      externalId: "user",
    };
    const { key } = await latchkey.createKey({ apiId, ...limited });
    const { key: another } = await latchkey.createKey({ apiId });
    return { store, latchkey, key, another };
  }

  test("one command when the key was verified before, two when it was not", async () => {
    const { store, latchkey, key, another } = await issueKey();
    const verify = () => latchkey.verifyKey({ key });
    // Not counted: the server learns both scripts, the store examines the server, and the process meets the API.
    await latchkey.verifyKey({ key: another });

    expect(await commandsOf(verify)).toEqual(["evalsha", "evalsha"]);
    expect(await commandsOf(verify)).toEqual(["evalsha"]);
    const withMore = {
      key,
      requestId: "r",
      ratelimits: [{ name: "burst", limit: 5, duration: 1_000 }],
    };
    expect(await commandsOf(() => latchkey.verifyKey(withMore))).toEqual(["evalsha"]);
    await store.close();
  });

  test("no more for a key that was rotated, and for one that draws from its identity", async () => {
    const { store, latchkey, key, another } = await issueKey();
    const verdict = await latchkey.verifyKey({ key });
    const keyId = (verdict.valid && verdict.keyId) || "";
    const successor = await latchkey.rotateKey({ keyId, graceMs: 60_000 });
    await latchkey.updateIdentity({ externalId: "user", remaining: 100 });
    const ratelimits = [{ name: "burst", limit: 50, duration: 1_000 }];
    for (const usesFrom of ["key", "identity"] as const) {
      await latchkey.updateKey({ keyId: successor.keyId, usesFrom });
      const fresh = createLatchkey({ store });
      await fresh.verifyKey({ key: another });
      const verify = () => fresh.verifyKey({ key: successor.key, ratelimits });
      expect(await commandsOf(verify)).toEqual(["evalsha", "evalsha"]);
      expect(await commandsOf(verify)).toEqual(["evalsha"]);
      expect(await verify()).toMatchObject({ valid: true });
    }
    await store.close();
  });

  test("one command for a reservation, and one for its end, whatever it holds", async () => {
    const { store, latchkey, key } = await issueKey();
    const ratelimits = [{ name: "burst", limit: 5, duration: 1_000 }];
    const reserve = () => latchkey.reserve({ key, ratelimits });
    const ids: string[] = [];
    const made = async () => {
      const verdict = await reserve();
      if (verdict.valid) ids.push(verdict.reservationId);
    };
    const settle = (by = latchkey) =>
      by.settle({ reservationId: ids.shift() ?? "", remaining: { cost: 0 } });
    await made();
    await settle();

    expect(await commandsOf(made)).toEqual(["evalsha"]);
    expect(await commandsOf(() => settle())).toEqual(["evalsha"]);
    // Another process knows neither the window without an owner, nor what restores the uses.
    await made();
    const otherStore = redisStore(server.url, PATIENT);
    const other = createLatchkey({ store: otherStore });
    await other.verifyKey({ key });
    expect(await commandsOf(() => settle(other))).toEqual(["evalsha", "evalsha", "evalsha"]);
    await Promise.all([store.close(), otherStore.close()]);
  });

  test("one command for a secret that does not exist, and none for one with a wrong checksum", async () => {
    const { store, latchkey, key } = await issueKey();
    await latchkey.verifyKey({ key: "foreign" });
    const foreign = () => latchkey.verifyKey({ key: "another-foreign" });
    expect(await commandsOf(foreign)).toEqual(["evalsha"]);
    const damaged = `${key.slice(0, -1)}${key.endsWith("1") ? "2" : "1"}`;
    expect(await commandsOf(() => latchkey.verifyKey({ key: damaged }))).toEqual([]);
    await store.close();
  });

  test("one command more after the server has forgotten its scripts", async () => {
    const { store, latchkey, key } = await issueKey();
    await latchkey.verifyKey({ key });
    const control = server.connect();
    await control.script("FLUSH");
    control.disconnect();
    expect(await commandsOf(() => latchkey.verifyKey({ key }))).toEqual(["evalsha", "eval"]);
    await store.close();
  });
});
