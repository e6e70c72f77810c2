import { aRootKey, WORKSPACE } from "@latchkey/conformance";
import { type KeyStore, NO_CHANGES } from "@latchkey/core";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { redisStore } from "./index.js";
import { errorOf } from "./testing/errors.js";
import { type FaultyLink, startProxy } from "./testing/proxy.js";
import { startServer, type TestServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

const ROOT_KEY = aRootKey();
const POINTER = `lk:{r:${ROOT_KEY.hash}}`;

describeWithServers("the two steps of a root key", () => {
  let server: TestServer;
  let proxy: FaultyLink;
  let control: Redis;
  let direct: KeyStore;

  beforeAll(async () => {
    server = await startServer();
    proxy = await startProxy(server.port);
    control = server.connect();
    direct = redisStore(server.url);
  });
  beforeEach(async () => {
    await control.flushdb();
    await direct.insertRootKey(ROOT_KEY, NO_CHANGES);
  });
  afterAll(async () => {
    await direct.close();
    control.disconnect();
    await proxy.close();
    await server.remove();
  });

  /** Deletes over a link that loses one answer, counted from 1. */
  async function deleteLosing(lost: number): Promise<unknown> {
    const store = redisStore(proxy.url);
    try {
      await store.read(WORKSPACE, []);
      let answers = 0;
      proxy.decide(() => {
        answers += 1;
        return answers === lost ? "lose" : "deliver";
      });
      return await store
        .deleteRootKey(WORKSPACE, ROOT_KEY.id, NO_CHANGES)
        .catch((error: unknown) => error);
    } finally {
      proxy.decide(() => "deliver");
      await store.close();
    }
  }

  test("once deleted it is found no more, and nothing of it stays", async () => {
    expect(await direct.deleteRootKey(WORKSPACE, ROOT_KEY.id, NO_CHANGES)).toBe("deleted");
    expect(await direct.findRootKey(ROOT_KEY.hash)).toBeNull();
    expect(await control.keys("*")).toEqual([]);
  });

  test("a deletion that is answered has killed it, also where its second step was lost", async () => {
    // Scripts that the server does not know yet are sent twice, and answered twice.
    await direct.deleteRootKey(WORKSPACE, ROOT_KEY.id, NO_CHANGES);
    await direct.insertRootKey(ROOT_KEY, NO_CHANGES);
    expect(await deleteLosing(2)).toBe("deleted");
    expect(await direct.findRootKey(ROOT_KEY.hash)).toBeNull();
    expect(await direct.deleteRootKey(WORKSPACE, ROOT_KEY.id, NO_CHANGES)).toBe("not-found");
  });

  test("a deletion whose first answer was lost has an unknown outcome, and can be repeated", async () => {
    await direct.deleteRootKey(WORKSPACE, ROOT_KEY.id, NO_CHANGES);
    await direct.insertRootKey(ROOT_KEY, NO_CHANGES);
    expect(await errorOf(Promise.reject(await deleteLosing(1)))).toMatchObject({
      code: "STORE_UNAVAILABLE",
      outcome: "unknown",
    });
    expect(await direct.findRootKey(ROOT_KEY.hash)).toBeNull();
    expect(await direct.deleteRootKey(WORKSPACE, ROOT_KEY.id, NO_CHANGES)).toBe("not-found");
  });

  test("a pointer that was left behind finds nothing, and is in nobody's way", async () => {
    await direct.deleteRootKey(WORKSPACE, ROOT_KEY.id, NO_CHANGES);
    await control.set(POINTER, WORKSPACE);
    expect(await direct.findRootKey(ROOT_KEY.hash)).toBeNull();
    await direct.insertRootKey(ROOT_KEY, NO_CHANGES);
    expect((await direct.findRootKey(ROOT_KEY.hash))?.rootKey).toEqual(ROOT_KEY);
  });
});
