import {
  aKey,
  aNewKey,
  anApi,
  aPermission,
  aRole,
  idOf,
  NOW,
  WORKSPACE,
} from "@latchkey/conformance";
import { type KeyStore, type NewKey, NO_CHANGES } from "@latchkey/core";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redisStore } from "./index.js";
import { errorOf } from "./testing/errors.js";
import { startServer, type TestServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

const DAY_MS = 86_400_000;

describeWithServers("much at once", () => {
  let server: TestServer;
  let control: Redis;
  let store: KeyStore;

  beforeAll(async () => {
    server = await startServer();
    control = server.connect();
    store = redisStore(server.url);
    await store.insertApi(anApi(), NO_CHANGES);
  });
  afterAll(async () => {
    await store.close();
    control.disconnect();
    await server.remove();
  });

  test("100 keys with all that a key can have, each with 100 roles and 500 permissions, are one script", async () => {
    const grants = {
      roles: Array.from({ length: 100 }, (_, number) => orCreate(aRole(`role ${number}`, number))),
      permissions: Array.from({ length: 500 }, (_, number) =>
        orCreate(aPermission(`permission.${number}`, number)),
      ),
    };
    const newKeys: readonly NewKey[] = Array.from({ length: 100 }, (_, number) =>
      aNewKey(
        aKey(number + 1, {
          name: "n".repeat(256),
          meta: { text: "m".repeat(10_000) },
          environment: "e".repeat(256),
          sealedSecret: "s".repeat(500),
          expiresAt: NOW,
          refill: { interval: "monthly", amount: 5, refillDay: 31 },
        }),
        { usage: { remaining: 5, refilledAt: NOW }, grants },
      ),
    );
    await control.config("SET", "slowlog-log-slower-than", "0");
    await control.slowlog("RESET");
    const result = await store.insertKeys(newKeys, NO_CHANGES);
    await control.config("SET", "slowlog-log-slower-than", "-1");
    expect(result).toMatchObject({ kind: "inserted" });
    expect(result.kind === "inserted" && result.created).toHaveLength(600);
    const log = (await control.slowlog("GET", "100")) as [number, number, number, string[]][];
    const scripts = log.filter(([, , , words]) => /^eval/i.test(words[0] ?? ""));
    // The second is that of a server that did not know the script yet.
    expect(scripts.length).toBeLessThanOrEqual(2);
    console.info(`100 keys in one script: ${Math.max(...scripts.map(([, , us]) => us))} µs`);
    const loaded = await store.getKey(WORKSPACE, idOf("key", 100));
    expect(loaded?.roles).toHaveLength(100);
    expect(loaded?.permissions).toHaveLength(500);
  });

  test("100 keys that name 600 permissions each, all of them missing, are told of every one", async () => {
    const names = (key: number) =>
      Array.from({ length: 600 }, (_, number) => `missing.${key}.${number}`);
    const newKeys = Array.from({ length: 100 }, (_, number) =>
      aNewKey(aKey(number + 201), {
        grants: {
          permissions: names(number).map((name) => ({ kind: "name", name, orCreate: null })),
        },
      }),
    );
    const result = await store.insertKeys(newKeys, NO_CHANGES);
    const all = newKeys.flatMap((_, number) => names(number));
    expect(result).toEqual({ kind: "missing-grants", roles: [], permissions: all });
    expect(await store.getKey(WORKSPACE, idOf("key", 201))).toBeNull();
  });

  test("a batch of counts that fails after its first step has an unknown outcome: part of it was added", async () => {
    const days = 500;
    const counts = Array.from({ length: days }, (_, day) => ({
      subject: { kind: "api", id: idOf("api", 1) } as const,
      hourAt: day * DAY_MS,
      code: "VALID" as const,
      count: 1,
    }));
    const rights = [
      "~lk:*:verification-days",
      "~lk:*:key-hashes",
      "~lk:*:last-used",
      "~lk:*:v:0000000*",
      "~lk:*:v:0000001*",
    ];
    await control.call("ACL", "SETUSER", "narrow", "on", ">pw", "+@all", ...rights);
    const narrow = redisStore(server.url.replace("//", "//narrow:pw@"));
    const read = (from: number, to: number) =>
      store.getVerifications(WORKSPACE, { kind: "api", id: idOf("api", 1) }, from, to);
    try {
      const error = await errorOf(narrow.addVerifications(WORKSPACE, { counts, lastUsed: [] }));
      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "unknown" });
      expect(await read(0, days * DAY_MS)).toHaveLength(200);
      const none = { counts: counts.slice(300), lastUsed: [] };
      const refused = await errorOf(narrow.addVerifications(WORKSPACE, none));
      expect(refused).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
    } finally {
      await narrow.close();
    }
    await store.addVerifications(WORKSPACE, { counts, lastUsed: [] });
    const all = await read(0, Number.MAX_SAFE_INTEGER);
    expect(all.map(({ hourAt }) => hourAt)).toEqual(counts.map(({ hourAt }) => hourAt));
    expect(all.map(({ count }) => count)).toEqual(counts.map((_, day) => (day < 200 ? 2 : 1)));
    expect(await read(100 * DAY_MS, 400 * DAY_MS)).toHaveLength(300);
  });
});

function orCreate<Definition extends { readonly name: string }>(definition: Definition) {
  return { kind: "name", name: definition.name, orCreate: definition } as const;
}
