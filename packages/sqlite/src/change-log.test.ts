import type { ChangeRecord } from "@latchkey/core";
import { NO_CHANGES } from "@latchkey/core";
import { expect, test } from "vitest";
import { sqliteStore } from "./index.js";
import { aKey, anApi, keyIdOf, NOW, WORKSPACE } from "./testing/fixtures.js";

const created: ChangeRecord = {
  id: "evt_1",
  workspaceId: WORKSPACE,
  type: "key.created",
  at: NOW,
  actor: null,
  resourceId: keyIdOf(1),
  keyId: keyIdOf(1),
  identityId: null,
  fields: [
    { field: "name", after: null },
    { field: "meta", before: { a: [1] }, after: "x" },
  ],
};

test("a change whose entry cannot be written did not happen", async () => {
  const store = sqliteStore(":memory:");
  await store.insertApi(anApi(), NO_CHANGES);
  const log = [{ change: created, ifCreated: false }];
  await store.insertKeys([aKey(1)], log);
  await expect(store.insertKeys([aKey(2), aKey(3)], log)).rejects.toMatchObject({
    code: "INTERNAL_SERVER_ERROR",
  });
  expect(await store.getKey(WORKSPACE, keyIdOf(2))).toBeNull();
  const page = { beforeId: null, limit: 10 };
  const { items } = await store.listChanges(WORKSPACE, { kind: "all" }, page);
  expect(items).toEqual([created]);
  await store.close();
});
