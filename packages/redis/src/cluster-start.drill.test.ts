import { setTimeout as sleep } from "node:timers/promises";
import { createLatchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { redisStore } from "./index.js";
import { startCluster } from "./testing/redis-cluster.js";
import { PATIENT } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

describeWithServers("a store of a Redis Cluster that was just opened", () => {
  test("answers its first calls, however many are made at once", async () => {
    const cluster = await startCluster();
    const hosts = cluster.servers.map(({ port }) => `127.0.0.1:${port}`);
    const settings = { ...PATIENT, allowEviction: true, allowNoPersistence: true };
    try {
      for (let round = 0; round < 10; round += 1) {
        const store = redisStore(`redis+cluster://${hosts.join(",")}`, settings);
        const latchkey = createLatchkey({ store, workspaceId: `ws_${round}` });
        // The client knows the slots by then, but is connected to no node that it has not sent anything to.
        await sleep(round * 10);
        const names = Array.from({ length: 8 }, (_, index) => `work.${index}`);
        const made = names.map(async (name, index) => {
          // Not all in the same turn: the first call has begun to connect to the nodes when the others come.
          for (let turn = 0; turn < index; turn += 1) await null;
          const { permissionId } = await latchkey.createPermission({ name });
          return (await latchkey.getPermission({ permissionId })).name;
        });
        expect(await Promise.all(made)).toEqual(names);
        await latchkey.close();
      }
    } finally {
      await cluster.remove();
    }
  });
});
