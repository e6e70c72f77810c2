import { aChange } from "@latchkey/conformance";
import type { WindowScanResult } from "@latchkey/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redisStore } from "./index.js";
import { errorOf } from "./testing/errors.js";
import { startCluster } from "./testing/redis-cluster.js";
import { PATIENT, startServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

const LENIENT = { ...PATIENT, allowNoPersistence: true };
const WORKSPACES = Array.from({ length: 12 }, (_, number) => `ws_${number}`);

const servers = {
  "a Redis Cluster": () => startCluster(2),
  "one server": () => startServer(),
};

describeWithServers("a walk through all names", () => {
  describe.each(Object.entries(servers))("of %s", (_name, start) => {
    let server: { readonly url: string; readonly remove: () => Promise<void> };
    beforeAll(async () => {
      server = await start();
      const store = redisStore(server.url, LENIENT);
      for (const id of WORKSPACES) await store.commit(id, aChange({ revision: 2 }));
      await store.close();
    });
    afterAll(() => server.remove());

    /** All workspaces from a position on, as a process finds them with its first call. */
    async function workspacesFrom(after: string | null) {
      const store = redisStore(server.url, LENIENT);
      const found = new Set<string>();
      const positions: string[] = [];
      try {
        for (let at = after; ; ) {
          const { names, next } = await store.scan(null, at);
          for (const name of names) found.add(name);
          if (next === null) return { found: [...found].sort(), positions };
          positions.push(next);
          at = next;
        }
      } finally {
        await store.close();
      }
    }

    test("finds all workspaces as the first call of a process", async () => {
      expect((await workspacesFrom(null)).found).toEqual([...WORKSPACES].sort());
    });

    test("finds the windows of all workspaces at once", async () => {
      const store = redisStore(server.url, LENIENT);
      const plan = (workspaceId: string) => ({
        workspaceId,
        ...{ revision: null, confirms: [], mode: "commit" as const, cost: 0, uses: null },
        limits: ["n:86400000:a", `n:86400000:${workspaceId}`].map((window) => {
          const figures = { algorithm: "fixed", duration: 86_400_000, limit: 9, burst: 1 } as const;
          return { name: window, window, ...figures, shadow: false, cost: 1, owner: null };
        }),
      });
      const moment = { now: Date.now(), refill: null };
      for (const id of WORKSPACES) await store.charge(plan(id), moment);
      const found: string[] = [];
      for (let after: string | null = null; ; ) {
        const page = (await store.scanWindows?.(after)) as WindowScanResult;
        for (const [id, names] of page.windows)
          for (const name of names) found.push(`${id} ${name}`);
        if (page.next === null) break;
        after = page.next;
      }
      await store.close();
      const expected = WORKSPACES.flatMap((id) => [`${id} n:86400000:a`, `${id} n:86400000:${id}`]);
      expect([...new Set(found)].sort()).toEqual(expected.sort());
    });

    test("restarts from a position if the servers have changed since", async () => {
      const { positions } = await workspacesFrom(null);
      for (const position of [...positions, "3f2a 127.0.0.1:1 17"]) {
        const [, node, cursor] = position.split(" ");
        const { found } = await workspacesFrom(`gone ${node} ${cursor}`);
        expect(found).toEqual([...WORKSPACES].sort());
      }
    });

    test.each(["5 0", "ws_1", "", "a b c", "a b 1 "])(
      "refuses the position %j, which it did not return",
      async (position) => {
        const store = redisStore(server.url, LENIENT);
        expect(await errorOf(store.scan(null, position))).toMatchObject({ code: "BAD_REQUEST" });
        await store.close();
      },
    );
  });
});
