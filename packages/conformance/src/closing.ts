import assert from "node:assert/strict";
import { type KeyStore, LatchkeyError } from "@latchkey/core";
import {
  aKey,
  aNewKey,
  anApi,
  anIdentity,
  aPermission,
  aPlan,
  aRole,
  aRootKey,
  hashOf,
  NOW,
  WORKSPACE,
} from "./fixtures.js";
import { withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const PAGE = { afterId: null, limit: 1 };

type Method = Exclude<keyof KeyStore, "close" | "charge">;

/** A call of every method; a method added to the port does not compile until it is listed here. */
const CALLS: { readonly [Name in Method]: (store: KeyStore) => Promise<unknown> } = {
  getWorkspace: (store) => store.getWorkspace(WORKSPACE),
  setWorkspaceEnabled: (store) => store.setWorkspaceEnabled(WORKSPACE, false),
  insertApi: (store) => store.insertApi(anApi(2)),
  getApi: (store) => store.getApi(WORKSPACE, anApi().id),
  deleteApi: (store) => store.deleteApi(WORKSPACE, anApi().id),
  insertPermission: (store) => store.insertPermission(aPermission("docs.read")),
  insertRole: (store) => store.insertRole(aRole("reader"), []),
  insertRootKey: (store) => store.insertRootKey(aRootKey()),
  findRootKey: (store) => store.findRootKey(hashOf(1)),
  insertIdentity: (store) => store.insertIdentity(anIdentity()),
  getIdentity: (store) => store.getIdentity(WORKSPACE, { externalId: "user-1" }),
  listIdentities: (store) => store.listIdentities(WORKSPACE, PAGE),
  updateIdentity: (store) => store.updateIdentity(WORKSPACE, anIdentity().id, 1, {}),
  insertKey: (store) => store.insertKey(aNewKey(aKey(2))),
  findKey: (store) => store.findKey(hashOf(1), WORKSPACE),
  getKey: (store) => store.getKey(WORKSPACE, aKey().id),
  listKeys: (store) => store.listKeys(WORKSPACE, anApi().id, { identityId: null }, PAGE),
  updateKey: (store) => store.updateKey(WORKSPACE, aKey().id, 1, {}),
  deleteKey: (store) => store.deleteKey(WORKSPACE, aKey().id, NOW),
  deleteKeys: (store) => store.deleteKeys(WORKSPACE, anApi().id, 1, NOW),
};

export const closingPromises: readonly StorePromise[] = [
  {
    title: "a closed store answers every call with STORE_UNAVAILABLE",
    async check({ store }) {
      const loaded = await withKeys(store, aNewKey());
      await store.close();
      const calls = { ...CALLS, charge: () => store.charge(aPlan(loaded)) };
      for (const [name, call] of Object.entries(calls)) {
        await assert.rejects(call(store), isUnavailable, `${name} answered after close`);
      }
    },
  },
  {
    title: "a store can be closed twice",
    async check({ store }) {
      await store.close();
      await store.close();
    },
  },
];

function isUnavailable(error: unknown): boolean {
  return error instanceof LatchkeyError && error.code === "STORE_UNAVAILABLE";
}
