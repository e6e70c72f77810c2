import { NO_CHANGES } from "@latchkey/core";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sqliteStore } from "./index.js";
import { aKey, anApi, anIdentity, load, NOW, WORKSPACE } from "./testing/fixtures.js";

let database: Database.Database;
beforeEach(() => {
  database = new Database(":memory:");
});
afterEach(() => database.close());

const role = { id: "role_1", workspaceId: WORKSPACE, name: "reader", description: null };
const permission = { ...role, id: "perm_1", name: "docs.read", createdAt: NOW };

/** Writes so many keys, all with the same role, the same permission and the same identity. */
async function withKeys(count: number) {
  const store = sqliteStore(database);
  await store.insertApi(anApi(), NO_CHANGES);
  const grants = {
    roles: [
      { kind: "name", name: role.name, orCreate: { ...role, createdAt: NOW, version: 1 } } as const,
    ],
    permissions: [{ kind: "name", name: permission.name, orCreate: permission } as const],
  };
  const newKeys = Array.from({ length: count }, (_, index) => ({
    ...aKey(index + 1),
    identity: anIdentity(),
    grants,
  }));
  await store.insertKeys(newKeys, NO_CHANGES);
  return store;
}

test.each([1, 100])(
  "deleting a permission, a role and an identity writes no more rows when %i keys had it",
  async (count) => {
    const store = await withKeys(count);
    const changes = database.prepare("SELECT total_changes()").pluck();
    const writtenBy = async (work: () => Promise<unknown>) => {
      const before = changes.get() as number;
      await work();
      return (changes.get() as number) - before;
    };
    // The row itself and the epoch; of an identity, its counters and the number of identities.
    expect(
      await writtenBy(() => store.deletePermission(WORKSPACE, permission.id, NO_CHANGES)),
    ).toBe(2);
    expect(await writtenBy(() => store.deleteRole(WORKSPACE, role.id, NO_CHANGES))).toBe(2);
    expect(await writtenBy(() => store.deleteIdentity(WORKSPACE, "id_1", NO_CHANGES))).toBe(3);
    expect(await load(store)).toMatchObject({
      identity: null,
      identityUsage: null,
      direct: { roles: [], permissions: [] },
    });
  },
);
