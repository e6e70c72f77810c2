import assert from "node:assert/strict";
import { type KeyStore, NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aNewKey,
  aPermission,
  aPlan,
  aRole,
  byId,
  idOf,
  named,
  WORKSPACE,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { insert, load, withKeys } from "./scene.js";
import type { Stage, StorePromise } from "./store-promise.js";

const READ = idOf("perm", 1);
const READER = idOf("role", 1);

/** Two keys with role `reader`, which gives `docs.read` and `docs.write`, and with `docs.read` itself. */
async function withHolders(store: KeyStore) {
  await store.insertPermission(aPermission("docs.read", 1), NO_CHANGES);
  await store.insertPermission(aPermission("docs.write", 2), NO_CHANGES);
  const permissions = [named("docs.read"), named("docs.write")];
  await store.insertRole(aRole("reader"), permissions, NO_CHANGES);
  const grants = { roles: [named("reader")], permissions: [named("docs.read")] };
  const loaded = await withKeys(store, aNewKey(aKey(1), { grants }));
  await insert(store, aNewKey(aKey(2), { grants }));
  return loaded;
}

async function held(store: KeyStore, keyId?: string) {
  const { roles, permissions, direct } = await load(store, keyId);
  return { roles, permissions, direct };
}

const DELETIONS = [
  {
    what: "permission",
    remove: (store: KeyStore) => store.deletePermission(WORKSPACE, READ, NO_CHANGES),
  },
  {
    what: "role",
    remove: (store: KeyStore) => store.deleteRole(WORKSPACE, READER, NO_CHANGES),
  },
] as const;

export const deletingGrantsPromises: readonly StorePromise[] = [
  {
    title: "a deleted permission is gone from every key and every role at once, from any process",
    async check({ store, other }) {
      await withHolders(store);
      await held(other);
      assert.equal(await store.deletePermission(WORKSPACE, READ, NO_CHANGES), "deleted");
      for (const handle of [other, store]) {
        for (const keyId of [idOf("key", 1), idOf("key", 2)]) {
          assert.deepEqual(await held(handle, keyId), {
            roles: ["reader"],
            permissions: ["docs.write"],
            direct: { roles: [{ id: READER, name: "reader" }], permissions: [] },
          });
        }
        const role = await handle.getRole(WORKSPACE, READER);
        const rest = [{ id: idOf("perm", 2), name: "docs.write" }];
        assert.deepEqual(role, { role: aRole("reader"), permissions: rest });
        assert.deepEqual(await handle.listRoles(WORKSPACE), [role]);
        assert.equal(await handle.getPermission(WORKSPACE, READ), null);
        const left = [aPermission("docs.write", 2)];
        assert.deepEqual(await handle.listPermissions(WORKSPACE), left);
      }
    },
  },
  {
    title: "a deleted role is gone from every key with all it gives, from any process",
    async check({ store, other }) {
      await withHolders(store);
      await held(other);
      assert.equal(await store.deleteRole(WORKSPACE, READER, NO_CHANGES), "deleted");
      for (const handle of [other, store]) {
        for (const keyId of [idOf("key", 1), idOf("key", 2)]) {
          assert.deepEqual(await held(handle, keyId), {
            roles: [],
            permissions: ["docs.read"],
            direct: { roles: [], permissions: [{ id: READ, name: "docs.read" }] },
          });
        }
        assert.equal(await handle.getRole(WORKSPACE, READER), null);
        assert.deepEqual(await handle.listRoles(WORKSPACE), []);
        assert.equal((await handle.listPermissions(WORKSPACE)).length, 2);
      }
    },
  },
  ...DELETIONS.map(({ what, remove }) => ({
    title: `no charge on what was read before a ${what} was deleted goes through`,
    async check({ store, other }: Stage) {
      const loaded = await withHolders(store);
      assert.equal((await other.charge(aPlan(loaded))).kind, "charged");
      await remove(store);
      for (const handle of [other, store]) {
        assert.deepEqual(await handle.charge(aPlan(loaded)), { kind: "stale" });
        assert.equal((await handle.charge(aPlan(await load(handle)))).kind, "charged");
      }
    },
  })),
  {
    title: "a permission made anew under the same name is held by none of the old one's holders",
    async check({ store, other }) {
      await withHolders(store);
      await store.deletePermission(WORKSPACE, READ, NO_CHANGES);
      const anew = aPermission("docs.read", 3);
      assert.equal(await other.insertPermission(anew, NO_CHANGES), "inserted");
      assert.deepEqual((await held(store)).permissions, ["docs.write"]);
      const role = await store.getRole(WORKSPACE, READER);
      assert.deepEqual(role?.permissions, [{ id: idOf("perm", 2), name: "docs.write" }]);
      const grants = { permissions: [named("docs.read")] };
      await insert(store, aNewKey(aKey(3), { grants }));
      const { direct } = await held(other, idOf("key", 3));
      assert.deepEqual(direct.permissions, [{ id: anew.id, name: anew.name }]);
    },
  },
  {
    title: "a role made anew under the same name is held by none of the old one's holders",
    async check({ store, other }) {
      await withHolders(store);
      await store.deleteRole(WORKSPACE, READER, NO_CHANGES);
      const anew = aRole("reader", 3);
      const { kind } = await other.insertRole(anew, [named("docs.write")], NO_CHANGES);
      assert.equal(kind, "inserted");
      assert.deepEqual((await held(store)).roles, []);
      assert.deepEqual((await held(store)).permissions, ["docs.read"]);
    },
  },
  {
    title: "a deleted role or permission is missing wherever it is referred to",
    async check({ store }) {
      await withHolders(store);
      await store.deletePermission(WORKSPACE, READ, NO_CHANGES);
      await store.deleteRole(WORKSPACE, READER, NO_CHANGES);
      const grants = {
        roles: [named("reader"), byId(READER)],
        permissions: [byId(READ), named("docs.read"), named("docs.write")],
      };
      const patched = await store.updateKey(WORKSPACE, idOf("key", 1), 1, { grants }, NO_CHANGES);
      assert.deepEqual(patched, {
        kind: "missing-grants",
        roles: ["reader", READER],
        permissions: [READ, "docs.read"],
      });
    },
  },
  {
    title: "a permission or role that is unknown or was deleted is not found",
    async check({ store, other }) {
      await withHolders(store);
      for (const { remove } of DELETIONS) {
        assert.equal(await remove(store), "deleted");
        assert.equal(await remove(other), "not-found");
      }
      const { epoch } = await store.getWorkspace(WORKSPACE);
      assert.equal(await store.deleteRole(WORKSPACE, READ, NO_CHANGES), "not-found");
      assert.equal(await store.deletePermission(WORKSPACE, READER, NO_CHANGES), "not-found");
      assert.equal((await other.getWorkspace(WORKSPACE)).epoch, epoch);
    },
  },
  {
    title: "of many racers that delete one role or permission exactly one deletes it",
    async check(stage) {
      await withHolders(stage.store);
      for (const { remove } of DELETIONS) {
        assert.deepEqual(tally(await race(stage, 10, remove)), { deleted: 1, "not-found": 9 });
      }
    },
  },
];
