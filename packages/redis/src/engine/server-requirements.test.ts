import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLatchkey } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { redisStore } from "../index.js";
import { errorOf, until, untilAnswered } from "../testing/errors.js";
import { PATIENT, type ServerOptions, startServer } from "../testing/redis-server.js";
import { removeEverything, useEverything } from "../testing/use-everything.js";
import { describeWithServers } from "../testing/where.js";
import { translateError } from "./errors.js";
import { requirementProblem } from "./server-requirements.js";

const STRICT = { allowEviction: false, allowNoPersistence: false };
const FIT = {
  redis_version: "7.0.15",
  role: "master",
  maxmemory_policy: "noeviction",
  aof_enabled: "1",
};
const infoOf = (fields: object) =>
  Object.entries(fields)
    .map(([name, value]) => `${name}:${value}`)
    .join("\r\n");

describe("whether a server may be trusted with keys", () => {
  test.each(["7.0.0", "7.2.4", "8.0.1", "10.0.0"])("version %s may", (redis_version) => {
    expect(requirementProblem(infoOf({ ...FIT, redis_version }), STRICT)).toBeNull();
  });

  test.each([
    ["Redis is too old", { redis_version: "6.2.14" }],
    ["Redis is too old", { redis_version: "" }],
    ["replica", { role: "slave" }],
    ["maxmemory-policy", { maxmemory_policy: "allkeys-lru" }],
    ["allowEviction: true", { maxmemory_policy: "volatile-ttl" }],
    ["appendonly", { aof_enabled: "0" }],
    ["allowNoPersistence: true", { aof_enabled: "0" }],
  ])("%s is the reason for %o", (reason, fields) => {
    expect(requirementProblem(infoOf({ ...FIT, ...fields }), STRICT)).toContain(reason);
  });

  test("eviction and missing persistence can be allowed, a replica cannot", () => {
    const lenient = { allowEviction: true, allowNoPersistence: true };
    const poor = { ...FIT, maxmemory_policy: "allkeys-lru", aof_enabled: "0" };
    expect(requirementProblem(infoOf(poor), lenient)).toBeNull();
    expect(requirementProblem(infoOf({ ...poor, role: "slave" }), lenient)).not.toBeNull();
  });
});

describe("what an error of Redis means", () => {
  const replied = (message: string) => Object.assign(new Error(message), { name: "ReplyError" });

  test.each([
    "LOADING",
    "READONLY",
    "OOM",
    "CLUSTERDOWN",
    "MASTERDOWN",
    "MISCONF",
    "NOREPLICAS",
    "BUSY",
    "NOAUTH",
    "WRONGPASS",
    "NOPERM",
  ])("%s: nothing was done, and its text is not passed on", (word) => {
    const error = translateError(replied(`${word} something secret`), true);
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
    expect(error.message).not.toContain("secret");
  });

  test("a lost connection leaves the outcome of a write unknown, but not that of a read", () => {
    expect(translateError(new Error("Connection is closed."), true).outcome).toBe("unknown");
    expect(translateError(new Error("Connection is closed."), false).outcome).toBe("not-applied");
  });

  test("an answer that the client did not wait for leaves a write unknown, and names the option of the client", () => {
    const error = translateError(new Error("Command timed out"), true);
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "unknown" });
    expect(error.message).toContain("commandTimeout of the client");
  });

  test("any other answer is an error of latchkey's own, without its text", () => {
    const error = translateError(replied("ERR user_script:1: secret"), true);
    expect(error.code).toBe("INTERNAL_SERVER_ERROR");
    expect(error.message).not.toContain("secret");
  });
});

describeWithServers("a server that is not fit to hold keys", () => {
  test.each([
    ["maxmemory-policy", { "maxmemory-policy": "allkeys-lru" }, "maxmemory-policy", "noeviction"],
    ["appendonly", { appendonly: "no" }, "appendonly", "yes"],
  ] as const)(
    "is refused naming %s, until that is changed",
    async (reason, options, setting, value) => {
      const server = await startServer(options as ServerOptions);
      const control = server.connect();
      const store = redisStore(server.url);
      try {
        const error = await errorOf(store.read("ws_default", []));
        expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
        expect(error.message).toContain(reason);
        const lenient = redisStore(server.url, { allowEviction: true, allowNoPersistence: true });
        await lenient.read("ws_default", []);
        await lenient.close();
        await control.config("SET", setting, value);
        await untilAnswered(() => store.read("ws_default", []));
      } finally {
        control.disconnect();
        await store.close();
        await server.remove();
      }
    },
  );

  test("is examined again after a reconnect", async () => {
    const server = await startServer();
    const store = redisStore(server.url, { configTimeoutMs: 500 });
    try {
      await store.read("ws_default", []);
      await server.stop();
      await server.start({ appendonly: "no" });
      await until(async () =>
        (await errorOf(store.read("ws_default", []))).message.includes("appendonly"),
      );
    } finally {
      await store.close();
      await server.remove();
    }
  });

  test.each([["redis://:wrong@"], ["redis://"], ["redis://nobody:wrong@"]])(
    "that wants another password than %s refuses every call, without repeating it",
    async (scheme) => {
      const server = await startServer({ requirepass: "right" });
      const store = redisStore(server.url.replace("redis://", scheme), { connectTimeoutMs: 500 });
      try {
        const error = await errorOf(store.read("ws_default", []));
        expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
        expect(error.message).not.toContain("wrong");
        const known = redisStore(server.url.replace("redis://", "redis://:right@"));
        await known.read("ws_default", []);
        await known.close();
      } finally {
        await store.close();
        await server.remove();
      }
    },
  );

  test("a user of Redis with the rights that the README names can do everything", async () => {
    const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
    const rights = /`(~lk:\* [^`]+)`/.exec(readme)?.[1]?.split(" ") ?? [];
    const server = await startServer();
    const control = server.connect();
    await control.call("ACL", "SETUSER", "latchkey", "on", ">pw", ...rights);
    const store = redisStore(server.url.replace("//", "//latchkey:pw@"));
    try {
      const left = await useEverything(store, "ws_default");
      expect((await store.scan(null, null)).names).toContain("ws_default");
      expect((await store.scan("ws_default", null)).names).not.toEqual([]);
      await removeEverything(store, "ws_default", left);
      const { workspaceId } = await left.latchkey.createWorkspace({ name: "another" });
      const another = await left.latchkey.workspace(workspaceId).getWorkspace();
      expect(another).toMatchObject({ name: "another" });
      expect(await store.forget(workspaceId, null)).toBeNull();
    } finally {
      control.disconnect();
      await store.close();
      await server.remove();
    }
  });

  test.each(["hset", "zadd", "zrem", "zrevrangebylex"])(
    "a user who may not run %s writes nothing, and the error names what is missing",
    async (command) => {
      const server = await startServer();
      const control = server.connect();
      await control.call("ACL", "SETUSER", "narrow", "on", ">pw", "~lk:*", "+@all", `-${command}`);
      const store = redisStore(server.url.replace("//", "//narrow:pw@"), PATIENT);
      try {
        const error = await errorOf(createLatchkey({ store }).createApi({ name: "payments" }));
        expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
        expect(error.message).toContain(`may not run ${command.toUpperCase()} `);
        expect(error.message).toContain("README");
        expect(await control.dbsize()).toBe(0);
        await control.call("ACL", "SETUSER", "narrow", `+${command}`);
        await createLatchkey({ store }).createApi({ name: "payments" });
      } finally {
        control.disconnect();
        await store.close();
        await server.remove();
      }
    },
  );

  test.each([
    ["zrem", "does not have ZREM,"],
    ["eval", "does not have a command,"],
    ["evalsha", "does not have a command,"],
  ])(
    "a server whose command %s was renamed writes nothing, and the error says so",
    async (command, text) => {
      const folder = mkdtempSync(join(tmpdir(), "latchkey-renamed-"));
      const configuration = join(folder, "renamed.conf");
      writeFileSync(configuration, `rename-command ${command} ""\n`);
      const server = await startServer({ include: configuration });
      const control = server.connect();
      const store = redisStore(server.url, PATIENT);
      try {
        const error = await errorOf(createLatchkey({ store }).createApi({ name: "payments" }));
        expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
        expect(error.message).toContain(text);
        expect(error.message).toContain("rename-command");
        expect(await control.dbsize()).toBe(0);
      } finally {
        control.disconnect();
        await store.close();
        await server.remove();
        rmSync(folder, { recursive: true });
      }
    },
  );

  test("a right that is taken away while the store is open is named too", async () => {
    const server = await startServer();
    const control = server.connect();
    await control.call("ACL", "SETUSER", "narrow", "on", ">pw", "~lk:*", "+@all");
    const store = redisStore(server.url.replace("//", "//narrow:pw@"), PATIENT);
    const latchkey = createLatchkey({ store });
    try {
      await latchkey.createApi({ name: "payments" });
      await control.call("ACL", "SETUSER", "narrow", "-zadd");
      const cut = await errorOf(latchkey.createApi({ name: "invoices" }));
      // The script was refused halfway.
      expect(cut).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "unknown" });
      expect(cut.message).toContain("(NOPERM)");
      const next = await errorOf(latchkey.createApi({ name: "invoices" }));
      expect(next).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
      expect(next.message).toContain("may not run ZADD ");
    } finally {
      control.disconnect();
      await store.close();
      await server.remove();
    }
  });
});
