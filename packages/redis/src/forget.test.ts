import { createLatchkey, type KeyStore } from "@latchkey/core";
import { expect, test } from "vitest";
import { openOwnStore } from "./testing/own-store.js";
import { describeWithServers } from "./testing/where.js";

/** So many Redis keys of other workspaces that a scan takes several steps. */
const OTHERS = 6_000;

describeWithServers("forgetting a workspace", () => {
  test("also deletes what charges count in the meantime", async () => {
    const { control, store, close } = await openOwnStore();
    try {
      const others = Array.from({ length: OTHERS }, (_, at) => [`other:${at}`, "1"]);
      await control.mset(...others.flat());
      const codes = new Set<string>();
      let verifyAll = async () => {};
      const watched: KeyStore = {
        ...store,
        forget: async (workspaceId, after) => {
          const next = await store.forget(workspaceId, after);
          if (next !== null) await verifyAll();
          return next;
        },
      };
      const operator = createLatchkey({ store: watched });
      const { workspaceId } = await operator.createWorkspace({ name: "north" });
      const tenant = createLatchkey({ store, workspaceId, usage: { durable: true } });
      const { apiId } = await tenant.createApi({ name: "tides" });
      const keys: string[] = [];
      for (let at = 0; at < 20; at += 1)
        keys.push((await tenant.createKey({ apiId, externalId: `user_${at}` })).key);
      verifyAll = async () => {
        for (const key of keys) codes.add((await tenant.verifyKey({ key })).code);
      };
      await verifyAll();
      await operator.deleteWorkspace({ workspaceId, confirm: workspaceId });
      expect([...codes]).toEqual(["VALID", "FORBIDDEN"]);
      expect(await control.keys(`*${workspaceId}*`)).toEqual([]);
      expect((await operator.listWorkspaces()).workspaces).toEqual([]);
    } finally {
      await close();
    }
  });
});
