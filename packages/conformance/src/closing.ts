import assert from "node:assert/strict";
import { type KeyStore, LatchkeyError, NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aNamespacePlan,
  aNewKey,
  anApi,
  anIdentity,
  aPermission,
  aPlan,
  aRole,
  aRootKey,
  aRotation,
  hashOf,
  idOf,
  NOW,
  REMOVAL,
  UNLIMITED,
  WORKSPACE,
} from "./fixtures.js";
import { withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const PAGE = { afterId: null, limit: 1 };
const SUBJECT = { kind: "key", id: aKey().id } as const;

type Method = Exclude<keyof KeyStore, "close" | "charge">;

/** A call of every method; a method added to the port does not compile until it is listed here. */
const CALLS: { readonly [Name in Method]: (store: KeyStore) => Promise<unknown> } = {
  getWorkspace: (store) => store.getWorkspace(WORKSPACE),
  insertWorkspace: (store) =>
    store.insertWorkspace({ id: "ws_new", name: "new", enabled: true, epoch: 0 }, NO_CHANGES),
  setWorkspaceEnabled: (store) => store.setWorkspaceEnabled(WORKSPACE, false, NO_CHANGES),
  insertApi: (store) => store.insertApi(anApi(2), NO_CHANGES),
  getApi: (store) => store.getApi(WORKSPACE, anApi().id),
  listApis: (store) => store.listApis(WORKSPACE, PAGE),
  updateApi: (store) => store.updateApi(WORKSPACE, anApi().id, 1, { name: "new" }, NO_CHANGES),
  deleteApi: (store) => store.deleteApi(WORKSPACE, anApi().id, NO_CHANGES),
  insertPermission: (store) => store.insertPermission(aPermission("docs.read"), NO_CHANGES),
  getPermission: (store) => store.getPermission(WORKSPACE, idOf("perm", 1)),
  listPermissions: (store) => store.listPermissions(WORKSPACE),
  deletePermission: (store) => store.deletePermission(WORKSPACE, idOf("perm", 1), NO_CHANGES),
  insertRole: (store) => store.insertRole(aRole("reader"), [], NO_CHANGES),
  getRole: (store) => store.getRole(WORKSPACE, idOf("role", 1)),
  listRoles: (store) => store.listRoles(WORKSPACE),
  setRolePermissions: (store) =>
    store.setRolePermissions(WORKSPACE, idOf("role", 1), 1, [], NO_CHANGES),
  deleteRole: (store) => store.deleteRole(WORKSPACE, idOf("role", 1), NO_CHANGES),
  insertRootKey: (store) => store.insertRootKey(aRootKey(), NO_CHANGES),
  findRootKey: (store) => store.findRootKey(hashOf(1)),
  listRootKeys: (store) => store.listRootKeys(WORKSPACE, PAGE),
  deleteRootKey: (store) => store.deleteRootKey(WORKSPACE, idOf("root", 1), NO_CHANGES),
  insertIdentity: (store) => store.insertIdentity(anIdentity(), UNLIMITED, NO_CHANGES),
  getIdentity: (store) => store.getIdentity(WORKSPACE, { externalId: "user-1" }),
  listIdentities: (store) => store.listIdentities(WORKSPACE, PAGE),
  updateIdentity: (store) => store.updateIdentity(WORKSPACE, anIdentity().id, 1, {}, NO_CHANGES),
  deleteIdentity: (store) => store.deleteIdentity(WORKSPACE, idOf("id", 1), NO_CHANGES),
  insertKeys: (store) => store.insertKeys([aNewKey(aKey(2))], NO_CHANGES),
  findKey: (store) => store.findKey(hashOf(1), WORKSPACE),
  getKey: (store) => store.getKey(WORKSPACE, aKey().id),
  listKeys: (store) => store.listKeys(WORKSPACE, anApi().id, { identityId: null }, PAGE),
  updateKey: (store) => store.updateKey(WORKSPACE, aKey().id, 1, {}, NO_CHANGES),
  rotateKey: (store) =>
    store.rotateKey(WORKSPACE, aKey().id, 1, aRotation({ key: aKey() }), NO_CHANGES),
  deleteKey: (store) => store.deleteKey(WORKSPACE, aKey().id, REMOVAL, NO_CHANGES),
  deleteKeys: (store) => store.deleteKeys(WORKSPACE, anApi().id, 1, NOW, null),
  takeFromNamespace: (store) => store.takeFromNamespace(aNamespacePlan()),
  addVerifications: (store) =>
    store.addVerifications(WORKSPACE, {
      counts: [{ subject: SUBJECT, hourAt: NOW, code: "VALID", count: 1 }],
      lastUsed: [{ keyId: aKey().id, usedAt: NOW }],
    }),
  getVerifications: (store) => store.getVerifications(WORKSPACE, SUBJECT, NOW, NOW + 1),
  deleteVerifications: (store) => store.deleteVerifications(WORKSPACE, 0, 1),
  listChanges: (store) =>
    store.listChanges(WORKSPACE, { kind: "all" }, { beforeId: null, limit: 1 }),
  deleteChanges: (store) => store.deleteChanges(WORKSPACE, idOf("evt", 1), 1),
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
