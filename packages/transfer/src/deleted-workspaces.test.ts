import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeyStore } from "@latchkey/core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { backup } from "./backup.js";
import { latchkeyOn } from "./testing/fixture.js";
import { KINDS, startStores, type TestStores } from "./testing/stores.js";

let stores: TestStores;
beforeAll(async () => {
  stores = await startStores();
}, 120_000);
afterAll(() => stores.close());

const GONE = "ws_harbour";

/** A store with two workspaces, and a function that deletes the first one, as far as `forget` lets it. */
async function twoWorkspaces(store: KeyStore, forget = store.forget) {
  for (const id of [GONE, "ws_tides"]) {
    const latchkey = latchkeyOn(store).workspace(id);
    const { apiId } = await latchkey.createApi({ name: "tiles" });
    await latchkey.createPermission({ name: "tiles.read" });
    await latchkey.createKey({ apiId, externalId: "pier-7", permissions: ["tiles.read"] });
  }
  const deleting = latchkeyOn({ ...store, forget });
  return () => deleting.deleteWorkspace({ workspaceId: GONE, confirm: GONE });
}

/** Calls `happen` before a list of a workspace is read. */
function beforeList(store: KeyStore, list: string, happen: () => Promise<unknown>): KeyStore {
  return {
    ...store,
    page: async (workspaceId, want) => {
      if (workspaceId === GONE && want.list === list && want.limit > 1) await happen();
      return store.page(workspaceId, want);
    },
  };
}

describe.each(KINDS)("a backup of %s", (kind) => {
  test.each(["api", "identity", "permission", "auditEntry"])(
    "is not made of what is left of a workspace that is deleted before its list %s is read",
    async (list) => {
      const folder = mkdtempSync(join(tmpdir(), "latchkey-deleted-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const store = stores.open(kind);
      const source = beforeList(store, list, await twoWorkspaces(store));
      await expect(backup(source, join(folder, "a.lkb"))).rejects.toMatchObject({
        code: "CONFLICT",
        message: expect.stringContaining(GONE),
      });
      expect(readdirSync(folder)).toEqual([]);
      const { workspaces } = await backup(store, join(folder, "b.lkb"));
      expect(workspaces).toEqual(["ws_tides"]);
    },
  );

  test("is refused if a workspace is half deleted when it is read", async () => {
    const folder = mkdtempSync(join(tmpdir(), "latchkey-deleted-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const store = stores.open(kind);
    const killed = new Error("killed");
    const deleteHalf = await twoWorkspaces(store, () => Promise.reject(killed));
    const source = beforeList(store, "permission", () => deleteHalf().catch(() => undefined));
    await expect(backup(source, join(folder, "a.lkb"))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      reason: "deleting",
      message: expect.stringContaining(GONE),
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});
