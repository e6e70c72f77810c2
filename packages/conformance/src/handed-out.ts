import assert from "node:assert/strict";
import { type LoadedKey, NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aKeyLimit,
  aNewKey,
  anApi,
  anIdentity,
  aPermission,
  aPlan,
  aSharedLimit,
  idOf,
  NOW,
  orCreate,
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
    title: "changing a record that was read changes nothing in the store",
    async check({ store }) {
      const loaded = snapshotOf(await withKeys(store, aRichKey()));
      const page = { afterId: null, limit: 10 };
      vandalise(await store.getKey(WORKSPACE, KEY.id));
      vandalise(await store.findKey(KEY.hash, WORKSPACE));
      vandalise(await store.getApi(WORKSPACE, KEY.apiId));
      vandalise(await store.getWorkspace(WORKSPACE));
      vandalise(await store.listKeys(WORKSPACE, KEY.apiId, { identityId: null }, page));
      vandalise(await store.listIdentities(WORKSPACE, page));
      vandalise(await store.charge(aPlan(loaded, { mode: "look" })));
      assertSameKey(await load(store), loaded);
      assertSameKey(await store.findKey(KEY.hash, WORKSPACE), loaded);
      assert.deepEqual(await store.getApi(WORKSPACE, KEY.apiId), anApi());
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
