import assert from "node:assert/strict";
import { type LoadedKey, NO_CHANGES } from "@latchkey/core";
import {
  aChange,
  aKey,
  aKeyLimit,
  aNewKey,
  anApi,
  anIdentity,
  aPermission,
  aPlan,
  aRole,
  aRootKey,
  aSharedLimit,
  idOf,
  logOf,
  NOW,
  named,
  orCreate,
  UNLIMITED,
  WORKSPACE,
} from "./fixtures.js";
import { assertSameKey, listedKeyIds, load, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const KEY = aKey(1, {
  meta: { team: { name: "billing" } },
  refill: { interval: "daily", amount: 5 },
  ratelimits: [aKeyLimit("default", 5)],
});

/** Built anew each time, since it is to be changed. */
function aRichKey() {
  return structuredClone(
    aNewKey(KEY, {
      usage: { remaining: 9, refilledAt: NOW },
      identity: anIdentity(1, {
        meta: { plan: ["pro"] },
        ratelimits: [aSharedLimit("requests", 5)],
      }),
      grants: { permissions: [orCreate(aPermission("docs.read"))] },
    }),
  );
}

/** A copy that shares nothing with the store. */
function snapshotOf({ handle: _, ...loaded }: LoadedKey): LoadedKey {
  return structuredClone(loaded);
}

/** Overwrites everything inside a value that lets itself be overwritten, but the handle, which is the store's. */
function vandalise(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (name === "handle") continue;
    vandalise(member);
    Reflect.set(value, name, typeof member === "number" ? member + 1_000 : "vandalised");
  }
  Reflect.set(value, "added", "vandalised");
}

const PAGE_BACK = { beforeId: null, limit: 10 };

export const handedOutPromises: readonly StorePromise[] = [
  {
    title: "changing a record after handing it in changes nothing in the store",
    async check({ store }) {
      const newKey = aRichKey();
      const loaded = snapshotOf(await withKeys(store, newKey));
      vandalise(newKey);
      assertSameKey(await load(store), loaded);
      const patch = { meta: { a: { b: 1 } }, ratelimits: [aKeyLimit("default", 9)] };
      await store.updateKey(WORKSPACE, KEY.id, loaded.key.version, patch, NO_CHANGES);
      const updated = snapshotOf(await load(store));
      vandalise(patch);
      assertSameKey(await load(store), updated);
    },
  },
  {
    title: "changing what other writes were handed changes nothing in the store",
    async check({ store }) {
      const api = structuredClone(anApi(1, { ipWhitelist: ["::1/128"] }));
      const change = structuredClone(aChange());
      await store.insertApi(api, logOf(change));
      const patch = { ipWhitelist: ["10.0.0.0/8"] };
      await store.updateApi(WORKSPACE, api.id, 1, patch, NO_CHANGES);
      const identity = structuredClone(anIdentity(1, { meta: { a: { b: 1 } } }));
      await store.insertIdentity(identity, UNLIMITED, NO_CHANGES);
      const rootKey = structuredClone(aRootKey());
      await store.insertRootKey(rootKey, NO_CHANGES);
      const role = structuredClone(aRole("reader"));
      await store.insertRole(role, [], NO_CHANGES);
      for (const given of [api, change, patch, identity, rootKey, role]) vandalise(given);
      const expected = anApi(1, { ipWhitelist: ["10.0.0.0/8"], version: 2 });
      assert.deepEqual(await store.getApi(WORKSPACE, idOf("api", 1)), expected);
      const { items } = await store.listChanges(WORKSPACE, { kind: "all" }, PAGE_BACK);
      assert.deepEqual(items, [aChange()]);
      const found = await store.getIdentity(WORKSPACE, { externalId: "user-1" });
      assert.deepEqual(found?.identity, anIdentity(1, { meta: { a: { b: 1 } } }));
      assert.deepEqual((await store.findRootKey(aRootKey().hash))?.rootKey, aRootKey());
      const [loaded] = await store.listRoles(WORKSPACE);
      assert.deepEqual(loaded?.role, aRole("reader"));
    },
  },
  {
    title: "changing a record that was read changes nothing in the store",
    async check({ store }) {
      await withKeys(store, aRichKey());
      await store.insertRootKey(aRootKey(), logOf(aChange()));
      await store.insertRole(aRole("reader"), [named("docs.read")], NO_CHANGES);
      const loaded = snapshotOf(await load(store));
      const docsRead = { id: idOf("perm", 1), name: "docs.read" };
      const page = { afterId: null, limit: 10 };
      vandalise(await store.getKey(WORKSPACE, KEY.id));
      vandalise(await store.findKey(KEY.hash, WORKSPACE));
      vandalise(await store.getApi(WORKSPACE, KEY.apiId));
      vandalise(await store.getWorkspace(WORKSPACE));
      vandalise(await store.listKeys(WORKSPACE, KEY.apiId, { identityId: null }, page));
      vandalise(await store.listIdentities(WORKSPACE, page));
      vandalise(await store.getIdentity(WORKSPACE, { externalId: "user-1" }));
      vandalise(await store.listApis(WORKSPACE, page));
      vandalise(await store.listPermissions(WORKSPACE));
      vandalise(await store.getRole(WORKSPACE, idOf("role", 1)));
      vandalise(await store.listRoles(WORKSPACE));
      vandalise(await store.findRootKey(aRootKey().hash));
      vandalise(await store.listRootKeys(WORKSPACE, page));
      vandalise(await store.listChanges(WORKSPACE, { kind: "all" }, PAGE_BACK));
      vandalise(await store.charge(aPlan(loaded, { mode: "look" })));
      assertSameKey(await load(store), loaded);
      assertSameKey(await store.findKey(KEY.hash, WORKSPACE), loaded);
      assert.deepEqual(await store.getApi(WORKSPACE, KEY.apiId), anApi());
      const held = { role: aRole("reader"), permissions: [docsRead] };
      assert.deepEqual(await store.listRoles(WORKSPACE), [held]);
      assert.deepEqual(await store.listPermissions(WORKSPACE), [aPermission("docs.read")]);
      assert.deepEqual((await store.listRootKeys(WORKSPACE, page)).items, [aRootKey()]);
      const { items } = await store.listChanges(WORKSPACE, { kind: "all" }, PAGE_BACK);
      assert.deepEqual(items, [aChange()]);
      assert.deepEqual(await listedKeyIds(store), [KEY.id]);
    },
  },
  {
    title: "a key that was read does not change when the stored key does",
    async check({ store }) {
      const loaded = await withKeys(store, aRichKey());
      const before = snapshotOf(loaded);
      await store.charge(aPlan(loaded));
      await store.updateKey(
        WORKSPACE,
        KEY.id,
        1,
        { name: "new", grants: { permissions: [] } },
        NO_CHANGES,
      );
      await store.updateIdentity(WORKSPACE, idOf("id", 1), 1, { meta: {} }, NO_CHANGES);
      await store.setWorkspaceEnabled(WORKSPACE, false, NO_CHANGES);
      assertSameKey(loaded, before);
    },
  },
];
