import assert from "node:assert/strict";
import { type ChangeLog, type KeyStore, NO_CHANGES } from "@latchkey/core";
import {
  aChange,
  aKey,
  aNewKey,
  anApi,
  anIdentity,
  aPermission,
  aRole,
  aRootKey,
  aRotation,
  aUsageChange,
  hashOf,
  idOf,
  logOf,
  named,
  REMOVAL,
  UNLIMITED,
  WORKSPACE,
} from "./fixtures.js";
import { insert } from "./scene.js";
import type { Stage, StorePromise } from "./store-promise.js";

/** A write, what it answers, and whether it is to leave its log. */
type Write = readonly [
  answer: string,
  write: (store: KeyStore, log: ChangeLog) => Promise<unknown>,
];

/** Every method of the port that takes a log. */
type LoggedMethod = {
  [Name in keyof KeyStore]: Parameters<KeyStore[Name]> extends readonly [...unknown[], infer Last]
    ? ChangeLog extends Last
      ? Last extends ChangeLog
        ? Name
        : never
      : never
    : never;
}[keyof KeyStore];

const [API, KEY, IDENTITY] = [idOf("api", 1), idOf("key", 1), idOf("id", 1)];
const [ROLE, PERMISSION] = [idOf("role", 1), idOf("perm", 1)];
const MISSING = { roles: [named("missing")] };
const TOO_MANY = aUsageChange({ kind: "decrement", by: 99 });
const NEW_WORKSPACE = { id: "ws_new", name: "new", enabled: true, epoch: 0 };

/**
 * What each write answers, in order, on a store with one record of each kind, and a protected API. The first answer of
 * each is that it wrote; a method added to the port with a log does not compile until it is listed here.
 */
const WRITES: { readonly [Name in LoggedMethod]: readonly Write[] } = {
  insertWorkspace: [
    ["inserted", (store, log) => store.insertWorkspace(NEW_WORKSPACE, log)],
    ["taken", (store, log) => store.insertWorkspace(NEW_WORKSPACE, log)],
  ],
  setWorkspaceEnabled: [
    ["undefined", (store, log) => store.setWorkspaceEnabled(WORKSPACE, false, log)],
  ],
  insertApi: [["undefined", (store, log) => store.insertApi(anApi(3), log)]],
  updateApi: [
    ["updated", (store, log) => store.updateApi(WORKSPACE, API, 1, { name: "new" }, log)],
    ["stale", (store, log) => store.updateApi(WORKSPACE, API, 1, { name: "late" }, log)],
    ["not-found", (store, log) => store.updateApi(WORKSPACE, "unknown", 1, { name: "" }, log)],
  ],
  deleteApi: [
    ["deleted", (store, log) => store.deleteApi(WORKSPACE, API, log)],
    ["not-found", (store, log) => store.deleteApi(WORKSPACE, API, log)],
    ["protected", (store, log) => store.deleteApi(WORKSPACE, idOf("api", 2), log)],
  ],
  insertPermission: [
    ["inserted", (store, log) => store.insertPermission(aPermission("new", 2), log)],
    ["name-taken", (store, log) => store.insertPermission(aPermission("new", 3), log)],
  ],
  deletePermission: [
    ["deleted", (store, log) => store.deletePermission(WORKSPACE, PERMISSION, log)],
    ["not-found", (store, log) => store.deletePermission(WORKSPACE, PERMISSION, log)],
  ],
  insertRole: [
    ["inserted", (store, log) => store.insertRole(aRole("new", 2), [], log)],
    ["name-taken", (store, log) => store.insertRole(aRole("new", 3), [], log)],
    ["missing-grants", (store, log) => store.insertRole(aRole("x", 3), [named("missing")], log)],
  ],
  setRolePermissions: [
    ["updated", (store, log) => store.setRolePermissions(WORKSPACE, ROLE, 1, [], log)],
    ["stale", (store, log) => store.setRolePermissions(WORKSPACE, ROLE, 1, [], log)],
    ["not-found", (store, log) => store.setRolePermissions(WORKSPACE, "unknown", 1, [], log)],
    [
      "missing-grants",
      (store, log) => store.setRolePermissions(WORKSPACE, ROLE, 2, [named("missing")], log),
    ],
  ],
  deleteRole: [
    ["deleted", (store, log) => store.deleteRole(WORKSPACE, ROLE, log)],
    ["not-found", (store, log) => store.deleteRole(WORKSPACE, ROLE, log)],
  ],
  insertRootKey: [["undefined", (store, log) => store.insertRootKey(aRootKey(2), log)]],
  deleteRootKey: [
    ["deleted", (store, log) => store.deleteRootKey(WORKSPACE, aRootKey().id, log)],
    ["not-found", (store, log) => store.deleteRootKey(WORKSPACE, aRootKey().id, log)],
  ],
  insertIdentity: [
    ["inserted", (store, log) => store.insertIdentity(anIdentity(2), UNLIMITED, log)],
    ["external-id-taken", (store, log) => store.insertIdentity(anIdentity(2), UNLIMITED, log)],
  ],
  updateIdentity: [
    ["updated", (store, log) => store.updateIdentity(WORKSPACE, IDENTITY, 1, { meta: {} }, log)],
    ["stale", (store, log) => store.updateIdentity(WORKSPACE, IDENTITY, 1, { meta: {} }, log)],
    ["not-found", (store, log) => store.updateIdentity(WORKSPACE, "none", 1, { meta: {} }, log)],
    [
      "usage-refused",
      (store, log) => store.updateIdentity(WORKSPACE, IDENTITY, 2, { usage: TOO_MANY }, log),
    ],
  ],
  deleteIdentity: [
    ["deleted", (store, log) => store.deleteIdentity(WORKSPACE, IDENTITY, log)],
    ["not-found", (store, log) => store.deleteIdentity(WORKSPACE, IDENTITY, log)],
  ],
  insertKeys: [
    ["inserted", (store, log) => store.insertKeys([aNewKey(aKey(2))], log)],
    ["hash-taken", (store, log) => store.insertKeys([aNewKey(aKey(3, HASH))], log)],
    ["api-not-found", (store, log) => store.insertKeys([aNewKey(aKey(3, NO_API))], log)],
    [
      "missing-grants",
      (store, log) => store.insertKeys([aNewKey(aKey(3), { grants: MISSING })], log),
    ],
  ],
  updateKey: [
    ["updated", (store, log) => store.updateKey(WORKSPACE, KEY, 1, { name: "new" }, log)],
    ["stale", (store, log) => store.updateKey(WORKSPACE, KEY, 1, { name: "late" }, log)],
    ["not-found", (store, log) => store.updateKey(WORKSPACE, "unknown", 1, { name: "" }, log)],
    ["usage-refused", (store, log) => store.updateKey(WORKSPACE, KEY, 2, { usage: TOO_MANY }, log)],
    [
      "missing-grants",
      (store, log) => store.updateKey(WORKSPACE, KEY, 2, { grants: MISSING }, log),
    ],
  ],
  rotateKey: [
    ["rotated", (store, log) => store.rotateKey(WORKSPACE, KEY, 1, ROTATION, log)],
    ["stale", (store, log) => store.rotateKey(WORKSPACE, KEY, 1, LATER_ROTATION, log)],
    ["not-found", (store, log) => store.rotateKey(WORKSPACE, "none", 1, LATER_ROTATION, log)],
    ["hash-taken", (store, log) => store.rotateKey(WORKSPACE, KEY, 2, TAKEN_ROTATION, log)],
  ],
  deleteKey: [
    ["deleted", (store, log) => store.deleteKey(WORKSPACE, KEY, REMOVAL, log)],
    ["not-found", (store, log) => store.deleteKey(WORKSPACE, KEY, REMOVAL, log)],
  ],
};

const HASH = { hash: hashOf(1) };
const NO_API = { apiId: "api_unknown" };
const ROTATION = aRotation({ key: aKey() }, 5);
const LATER_ROTATION = aRotation({ key: aKey() }, 6);
const TAKEN_ROTATION = aRotation({ key: aKey() }, 6, HASH);

async function withOneOfEach(store: KeyStore): Promise<void> {
  await store.insertApi(anApi(), NO_CHANGES);
  await store.insertApi(anApi(2, { deleteProtection: true }), NO_CHANGES);
  await store.insertPermission(aPermission("docs.read"), NO_CHANGES);
  await store.insertRole(aRole("reader"), [named("docs.read")], NO_CHANGES);
  await store.insertRootKey(aRootKey(), NO_CHANGES);
  await store.insertIdentity(anIdentity(), { remaining: 5, refilledAt: 0 }, NO_CHANGES);
  const usage = { remaining: 5, refilledAt: 0 };
  await insert(store, aNewKey(aKey(1, { identityId: IDENTITY }), { usage }));
}

/** The word that a write answers with. */
function wordOf(answer: unknown): string {
  return typeof answer === "object" && answer !== null && "kind" in answer
    ? String(answer.kind)
    : String(answer);
}

export const loggedWritePromises: readonly StorePromise[] = Object.entries(WRITES).map(
  ([method, writes]) => ({
    title: `${method} leaves its log when it writes, and nothing when it does not`,
    async check({ store, other }: Stage) {
      await withOneOfEach(store);
      const workspaceId = method === "insertWorkspace" ? NEW_WORKSPACE.id : WORKSPACE;
      const entry = (number: number) => aChange(number, { workspaceId, actor: method });
      const left = [entry(2), entry(1)];
      for (const [index, [answer, write]] of writes.entries()) {
        const log = index === 0 ? [entry(1), entry(2)] : [entry(10 * index)];
        assert.equal(wordOf(await write(store, logOf(...log))), answer);
        const page = { beforeId: null, limit: 10 };
        for (const filter of [{ kind: "all" }, { kind: "actor", actor: method }] as const) {
          const { items } = await other.listChanges(workspaceId, filter, page);
          assert.deepEqual(items, left);
        }
      }
    },
  }),
);
