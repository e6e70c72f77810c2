import { aChange } from "@latchkey/conformance";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { redisStore } from "../index.js";
import { errorOf, until, untilAnswered } from "../testing/errors.js";
import { NEVER_TWICE, PATIENT, startServer, type TestServer } from "../testing/redis-server.js";
import { describeWithServers } from "../testing/where.js";

/** The smallest write. */
const WRITE = aChange({ revision: 2 });
const NOT_APPLIED = { code: "STORE_UNAVAILABLE", outcome: "not-applied" };

describeWithServers("the database number", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ databases: "16" });
  });
  afterAll(() => server.remove());

  async function keysIn(database: number): Promise<number> {
    const control = server.connect();
    try {
      await control.select(database);
      return await control.dbsize();
    } finally {
      control.disconnect();
    }
  }

  test.each([16, 99, 99_999_999_999])(
    "%i, which the server lacks, refuses every call by name and writes nothing anywhere",
    async (database) => {
      const store = redisStore(`${server.url}/${database}`, PATIENT);
      try {
        const calls = Array.from({ length: 8 }, () => store.commit("ws_16", WRITE));
        for (const error of await Promise.all(calls.map(errorOf))) {
          expect(error).toMatchObject(NOT_APPLIED);
          expect(error.message).toContain("database number");
          expect(error.message).toContain('"databases"');
        }
        expect(await errorOf(store.read("ws_16", []))).toMatchObject(NOT_APPLIED);
        expect(await keysIn(0)).toBe(0);
      } finally {
        await store.close();
      }
    },
  );

  test("with records in the layout of a later version is neither read nor written", async () => {
    const control = server.connect();
    await control.set("later:layout", "2");
    const store = redisStore(server.url, { ...PATIENT, keyPrefix: "later" });
    for (const call of [store.read("ws_1", []), store.commit("ws_1", WRITE)]) {
      const error = await errorOf(call);
      expect(error.code).toBe("PRECONDITION_FAILED");
      expect(error.message).toContain("install a newer @latchkey/redis, or restore a backup");
    }
    await store.close();
    await control.del("later:layout");
    control.disconnect();
  });

  test("with a layout that a later version changes under an open connection is no longer used a minute later", async () => {
    const control = server.connect();
    await control.select(3);
    const store = redisStore(`${server.url}/3`, { ...PATIENT, keyPrefix: "grown" });
    onTestFinished(async () => {
      control.disconnect();
      await store.close();
    });
    await store.commit("ws_1", WRITE);
    await control.set("grown:layout", "2");
    const now = performance.now();
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now + 61_000);
    onTestFinished(() => clock.mockRestore());
    for (const call of [store.read("ws_1", []), store.commit("ws_1", WRITE)])
      expect((await errorOf(call)).code).toBe("PRECONDITION_FAILED");
  });

  test("15 holds what is written to it, and database 0 nothing of it", async () => {
    const store = redisStore(`${server.url}/15`, PATIENT);
    try {
      await store.commit("ws_15", WRITE);
      expect(await keysIn(15)).toBeGreaterThan(0);
      expect(await keysIn(0)).toBe(0);
    } finally {
      await store.close();
    }
  });

  test.each([2, 3] as const)(
    "of a client that is handed in holds with RESP%i",
    async (protocol) => {
      const options = { ...NEVER_TWICE, port: server.port, protocol };
      const clients = [new Redis({ ...options, db: 14 }), new Redis({ ...options, db: 99 })];
      for (const client of clients) client.on("error", () => undefined);
      try {
        const [found, missing] = clients.map((client) => redisStore(client));
        await found?.read("ws_default", []);
        const error = await errorOf(missing?.read("ws_default", []) ?? Promise.resolve());
        expect(error.message).toContain("database number");
      } finally {
        for (const client of clients) client.disconnect();
      }
    },
  );

  test("that is wrong lets no call through while it is being examined", async () => {
    const client = new Redis({ ...NEVER_TWICE, port: server.port, db: 99 });
    client.on("error", () => undefined);
    try {
      await until(async () => client.status === "ready");
      const store = redisStore(client);
      const calls: Promise<unknown>[] = [];
      for (let turn = 0; turn < 50; turn += 1) {
        calls.push(errorOf(store.commit("ws_99", WRITE)));
        await Promise.resolve();
      }
      await Promise.all(calls);
    } finally {
      client.disconnect();
    }
  });

  test("of a client must be a whole number that is not negative", () => {
    for (const db of [Number.NaN, -1, 1.5]) {
      const client = new Redis({ ...NEVER_TWICE, db, lazyConnect: true });
      expect(() => redisStore(client)).toThrow(TypeError);
      expect(() => redisStore(client)).toThrow("the option db");
      client.disconnect();
    }
  });

  test("is examined again after a reconnect, and used again once the server has it", async () => {
    const own = await startServer({ databases: "16" });
    const store = redisStore(`${own.url}/9`, PATIENT);
    try {
      await store.read("ws_default", []);
      await own.stop();
      await own.start({ databases: "8" });
      await until(async () =>
        (await errorOf(store.read("ws_default", []))).message.includes("database number"),
      );
      await own.stop();
      await own.start({ databases: "16" });
      await untilAnswered(() => store.read("ws_default", []));
    } finally {
      await store.close();
      await own.remove();
    }
  });

  test("is refused, with the reason, to a user of Redis without the right to SELECT", async () => {
    const control = server.connect();
    await control.call("ACL", "SETUSER", "narrow", "on", ">pw", "~*", "+@all", "-select");
    const store = redisStore(`${server.url.replace("//", "//narrow:pw@")}/3`, PATIENT);
    try {
      expect((await errorOf(store.read("ws_default", []))).message).toContain("SELECT");
    } finally {
      control.disconnect();
      await store.close();
    }
  });
});
