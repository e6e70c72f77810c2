import assert from "node:assert/strict";
import { NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aKeyWithUses,
  aNewKey,
  anApi,
  anIdentity,
  aPermission,
  aPlan,
  aRole,
  aRootKey,
  aRotation,
  byId,
  idOf,
  named,
  OTHER_WORKSPACE,
  REMOVAL,
  UNLIMITED,
  WORKSPACE,
} from "./fixtures.js";
import { assertSameKey, insert, load, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const KEY_ID = idOf("key", 1);
const PAGE = { afterId: null, limit: 100 };
const ELSEWHERE = { workspaceId: OTHER_WORKSPACE };

export const isolationPromises: readonly StorePromise[] = [
  {
    title: "a key is not read, listed, updated, deleted or charged from another workspace",
    async check({ store }) {
      const loaded = await withKeys(store, aKeyWithUses(5));
      const filter = { identityId: null };
      assert.equal(await store.getKey(OTHER_WORKSPACE, KEY_ID), null);
      assert.equal(await store.findKey(loaded.key.hash, OTHER_WORKSPACE), null);
      const listed = await store.listKeys(OTHER_WORKSPACE, idOf("api", 1), filter, PAGE);
      assert.deepEqual(listed, { items: [], hasMore: false, total: 0 });
      const updated = await store.updateKey(
        OTHER_WORKSPACE,
        KEY_ID,
        1,
        { switchedOn: false },
        NO_CHANGES,
      );
      assert.deepEqual(updated, { kind: "not-found" });
      assert.equal(
        await store.deleteKey(OTHER_WORKSPACE, KEY_ID, REMOVAL, NO_CHANGES),
        "not-found",
      );
      assert.deepEqual(await store.charge(aPlan(loaded, ELSEWHERE)), { kind: "stale" });
      assertSameKey(await load(store), loaded);
    },
  },
  {
    title: "an API is not read and given no keys from another workspace",
    async check({ store }) {
      await store.insertApi(anApi(), NO_CHANGES);
      assert.equal(await store.getApi(OTHER_WORKSPACE, idOf("api", 1)), null);
      const intruder = aNewKey(aKey(1, ELSEWHERE), { identity: anIdentity(1, ELSEWHERE) });
      assert.deepEqual(await store.insertKeys([intruder], NO_CHANGES), {
        kind: "api-not-found",
        index: 0,
      });
      assert.equal((await store.listIdentities(OTHER_WORKSPACE, PAGE)).total, 0);
    },
  },
  {
    title: "an identity is not read, listed or updated from another workspace",
    async check({ store }) {
      await store.insertIdentity(anIdentity(), UNLIMITED, NO_CHANGES);
      const identityId = idOf("id", 1);
      assert.equal(await store.getIdentity(OTHER_WORKSPACE, { identityId }), null);
      assert.equal(await store.getIdentity(OTHER_WORKSPACE, { externalId: "user-1" }), null);
      assert.equal((await store.listIdentities(OTHER_WORKSPACE, PAGE)).total, 0);
      assert.deepEqual(
        await store.updateIdentity(OTHER_WORKSPACE, identityId, 1, { meta: {} }, NO_CHANGES),
        { kind: "not-found" },
      );
    },
  },
  {
    title:
      "a key is not rotated, and an identity and a root key not deleted, from another workspace",
    async check({ store }) {
      const loaded = await withKeys(store, aNewKey(aKey(), { identity: anIdentity() }));
      await store.insertRootKey(aRootKey(), NO_CHANGES);
      const theirs = aRotation(loaded, 2, ELSEWHERE);
      const rotated = await store.rotateKey(OTHER_WORKSPACE, KEY_ID, 1, theirs, NO_CHANGES);
      assert.equal(rotated, "not-found");
      const identityId = idOf("id", 1);
      const identity = await store.deleteIdentity(OTHER_WORKSPACE, identityId, NO_CHANGES);
      assert.equal(identity, "not-found");
      const root = await store.deleteRootKey(OTHER_WORKSPACE, aRootKey().id, NO_CHANGES);
      assert.equal(root, "not-found");
      const rootKeys = await store.listRootKeys(OTHER_WORKSPACE, PAGE);
      assert.deepEqual(rootKeys, { items: [], hasMore: false, total: 0 });
      assert.notEqual(await store.findRootKey(aRootKey().hash), null);
      assertSameKey(await load(store), loaded);
    },
  },
  {
    title: "an API is not listed, updated or deleted from another workspace",
    async check({ store }) {
      await store.insertApi(anApi(), NO_CHANGES);
      const [id, patch] = [anApi().id, { name: "theirs" }];
      const updated = await store.updateApi(OTHER_WORKSPACE, id, 1, patch, NO_CHANGES);
      assert.equal(updated, "not-found");
      assert.equal(await store.deleteApi(OTHER_WORKSPACE, id, NO_CHANGES), "not-found");
      const listed = await store.listApis(OTHER_WORKSPACE, PAGE);
      assert.deepEqual(listed, { items: [], hasMore: false, total: 0 });
      assert.deepEqual(await store.getApi(WORKSPACE, id), anApi());
    },
  },
  {
    title: "a role and a permission are not read, listed, set or deleted from another workspace",
    async check({ store }) {
      await store.insertPermission(aPermission("docs.read"), NO_CHANGES);
      await store.insertRole(aRole("reader"), [named("docs.read")], NO_CHANGES);
      const before = await store.getWorkspace(WORKSPACE);
      const [roleId, permissionId] = [idOf("role", 1), idOf("perm", 1)];
      assert.equal(await store.getRole(OTHER_WORKSPACE, roleId), null);
      assert.equal(await store.getPermission(OTHER_WORKSPACE, permissionId), null);
      assert.deepEqual(await store.listRoles(OTHER_WORKSPACE), []);
      assert.deepEqual(await store.listPermissions(OTHER_WORKSPACE), []);
      const set = await store.setRolePermissions(OTHER_WORKSPACE, roleId, 1, [], NO_CHANGES);
      assert.deepEqual(set, { kind: "not-found" });
      const role = await store.deleteRole(OTHER_WORKSPACE, roleId, NO_CHANGES);
      const permission = await store.deletePermission(OTHER_WORKSPACE, permissionId, NO_CHANGES);
      assert.deepEqual([role, permission], ["not-found", "not-found"]);
      assert.deepEqual(await store.getRole(WORKSPACE, roleId), {
        role: aRole("reader"),
        permissions: [{ id: permissionId, name: "docs.read" }],
      });
      assert.deepEqual(await store.getWorkspace(WORKSPACE), before);
    },
  },
  {
    title: "one external id, one role name and one permission name can be had in every workspace",
    async check({ store }) {
      await store.insertIdentity(anIdentity(1), UNLIMITED, NO_CHANGES);
      await store.insertPermission(aPermission("docs.read", 1), NO_CHANGES);
      await store.insertRole(aRole("reader", 1), [named("docs.read")], NO_CHANGES);
      assert.equal(
        await store.insertPermission(aPermission("docs.read", 2, ELSEWHERE), NO_CHANGES),
        "inserted",
      );
      const role = await store.insertRole(aRole("reader", 2, ELSEWHERE), [], NO_CHANGES);
      assert.deepEqual(role, { kind: "inserted" });
      await store.insertApi(anApi(2, ELSEWHERE), NO_CHANGES);
      const identity = anIdentity(2, { ...ELSEWHERE, externalId: "user-1" });
      const grants = { roles: [named("reader")] };
      const key = aKey(2, { ...ELSEWHERE, apiId: idOf("api", 2) });
      await insert(store, aNewKey(key, { identity, grants }));
      const loaded = await store.getKey(OTHER_WORKSPACE, key.id);
      assert.deepEqual(loaded?.identity, identity);
      assert.deepEqual([loaded?.roles, loaded?.permissions], [["reader"], []]);
    },
  },
  {
    title: "one hash can be had in every workspace, and finds the key of the workspace asked",
    async check({ store }) {
      const loaded = await withKeys(store, aNewKey());
      await store.insertApi(anApi(2, ELSEWHERE), NO_CHANGES);
      const theirs = aKey(2, { ...ELSEWHERE, apiId: idOf("api", 2), hash: loaded.key.hash });
      await insert(store, aNewKey(theirs));
      assertSameKey(await store.findKey(loaded.key.hash, WORKSPACE), loaded);
      assert.deepEqual((await store.findKey(loaded.key.hash, OTHER_WORKSPACE))?.key, theirs);
      await store.deleteKey(OTHER_WORKSPACE, theirs.id, REMOVAL, NO_CHANGES);
      assertSameKey(await store.findKey(loaded.key.hash, WORKSPACE), loaded);
    },
  },
  {
    title: "a role or permission of another workspace is missing, by name and by id",
    async check({ store }) {
      await store.insertPermission(aPermission("docs.read", 1, ELSEWHERE), NO_CHANGES);
      await store.insertRole(aRole("reader", 1, ELSEWHERE), [], NO_CHANGES);
      await store.insertApi(anApi(), NO_CHANGES);
      const roles = [named("reader"), byId(idOf("role", 1))];
      const permissions = [byId(idOf("perm", 1)), named("docs.read")];
      const result = await store.insertKeys(
        [aNewKey(aKey(), { grants: { roles, permissions } })],
        NO_CHANGES,
      );
      assert.deepEqual(result, {
        kind: "missing-grants",
        roles: ["reader", idOf("role", 1)],
        permissions: [idOf("perm", 1), "docs.read"],
      });
    },
  },
  {
    title: "switching one workspace off leaves every other as it is",
    async check({ store }) {
      const loaded = await withKeys(store, aNewKey());
      await store.setWorkspaceEnabled(OTHER_WORKSPACE, false, NO_CHANGES);
      assertSameKey(await load(store), loaded);
      assert.equal((await store.charge(aPlan(loaded))).kind, "charged");
    },
  },
];
