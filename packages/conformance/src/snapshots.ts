import assert from "node:assert/strict";
import { type KeyStore, NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aNewKey,
  anApi,
  anIdentity,
  aPermission,
  aRole,
  aRotation,
  aUsageChange,
  idOf,
  NOW,
  named,
  REMOVAL,
  WORKSPACE,
} from "./fixtures.js";
import { race } from "./race.js";
import { assertUpdated, load, rotate, withKeys } from "./scene.js";
import type { Stage, StorePromise } from "./store-promise.js";

const KEY_ID = idOf("key", 1);
const PAGE = { afterId: null, limit: 100 };

/** One writes ten times, nine others read as long as that takes. */
async function readWhile(
  stage: Stage,
  write: (store: KeyStore, round: number) => Promise<unknown>,
  read: (store: KeyStore) => Promise<void>,
): Promise<void> {
  let isWriting = true;
  await race(stage, 10, async (store, number) => {
    if (number > 0) {
      while (isWriting) await read(store);
      return;
    }
    try {
      for (let round = 1; round <= 10; round += 1) await write(store, round);
    } finally {
      isWriting = false;
    }
  });
}

async function withPermissions(store: KeyStore): Promise<void> {
  for (const [index, name] of ["a", "b", "c", "d"].entries()) {
    await store.insertPermission(aPermission(name, index), NO_CHANGES);
  }
}

/** `a` and `b` in odd rounds, `c` and `d` in even ones. */
function pairOf(round: number) {
  return (round % 2 === 0 ? ["c", "d"] : ["a", "b"]).map(named);
}

export const snapshotPromises: readonly StorePromise[] = [
  {
    title: "a key is read before an update or after it, never with some of each",
    async check(stage) {
      await withPermissions(stage.store);
      const grants = { permissions: pairOf(0) };
      const usage = { remaining: 0, refilledAt: NOW };
      await withKeys(stage.store, aNewKey(aKey(1, { name: "round 0" }), { usage, grants }));
      await readWhile(
        stage,
        async (store, round) => {
          const operation = { kind: "set", remaining: round } as const;
          const patch = {
            name: `round ${round}`,
            usage: aUsageChange(operation),
            grants: { permissions: pairOf(round) },
          };
          assertUpdated(await store.updateKey(WORKSPACE, KEY_ID, round, patch, NO_CHANGES));
        },
        async (store) => {
          const { key, usage: read, permissions } = await load(store);
          const round = key.version - 1;
          assert.equal(key.name, `round ${round}`);
          assert.equal(read.remaining, round);
          assert.equal(permissions.join(), round % 2 === 0 ? "c,d" : "a,b");
        },
      );
    },
  },
  {
    title: "a role is read before its permissions are set or after, never with some of each",
    async check(stage) {
      await withPermissions(stage.store);
      await stage.store.insertRole(aRole("reader"), pairOf(0), NO_CHANGES);
      const grants = { roles: [named("reader")] };
      await withKeys(stage.store, aNewKey(aKey(), { grants }));
      const roleId = idOf("role", 1);
      await readWhile(
        stage,
        async (store, round) => {
          const call = [WORKSPACE, roleId, round, pairOf(round), NO_CHANGES] as const;
          assert.deepEqual(await store.setRolePermissions(...call), { kind: "updated" });
        },
        async (store) => {
          const [loaded, role] = [await load(store), await store.getRole(WORKSPACE, roleId)];
          const [listed] = await store.listRoles(WORKSPACE);
          assert.ok(["a,b", "c,d"].includes(loaded.permissions.join()));
          for (const found of [role, listed]) {
            const names = found?.permissions.map(({ name }) => name).join();
            assert.equal(names, found && found.role.version % 2 === 0 ? "a,b" : "c,d");
          }
        },
      );
    },
  },
  {
    title: "an identity is read before an update or after it, by itself and by its keys",
    async check(stage) {
      const usage = { remaining: 0, refilledAt: NOW };
      await stage.store.insertIdentity(anIdentity(1, { meta: { round: 0 } }), usage, NO_CHANGES);
      await withKeys(stage.store, aNewKey(aKey(1, { identityId: idOf("id", 1) })));
      await readWhile(
        stage,
        async (store, round) => {
          const operation = { kind: "set", remaining: round } as const;
          const patch = { meta: { round }, usage: aUsageChange(operation) };
          const call = [WORKSPACE, idOf("id", 1), round, patch, NO_CHANGES] as const;
          assert.equal((await store.updateIdentity(...call)).kind, "updated");
        },
        async (store) => {
          const { identity, identityUsage } = await load(store);
          const found = await store.getIdentity(WORKSPACE, { identityId: idOf("id", 1) });
          for (const [record, read] of [
            [identity, identityUsage],
            [found?.identity, found?.usage],
          ] as const) {
            const round = (record?.version ?? 0) - 1;
            assert.deepEqual([record?.meta, read?.remaining], [{ round }, round]);
          }
        },
      );
    },
  },
  {
    title: "each key of a page is read whole, whoever rotates and deletes keys meanwhile",
    async check(stage) {
      await withKeys(stage.store, aNewKey());
      await readWhile(
        stage,
        async (store, round) => {
          const old = await load(store, idOf("key", round));
          await rotate(store, old, aRotation(old, round + 1));
          await store.deleteKey(WORKSPACE, old.key.id, REMOVAL, NO_CHANGES);
        },
        async (store) => {
          const filter = { identityId: null };
          const { items } = await store.listKeys(WORKSPACE, idOf("api", 1), filter, PAGE);
          assert.ok(items.length <= 2, "more keys than ever were there at once");
          for (const { key } of items) {
            const isOld = key.rotatedTo !== null;
            assert.equal(key.version, isOld ? 2 : 1);
            assert.equal(key.expiresAt === null, !isOld);
          }
        },
      );
    },
  },
  {
    title: "many keys of one call are seen all or none, with what was made for them",
    async check(stage) {
      await stage.store.insertApi(anApi(), NO_CHANGES);
      await readWhile(
        stage,
        (store, round) => {
          const numbers = [1, 2, 3].map((index) => 10 * round + index);
          const newKeys = numbers.map((number) =>
            aNewKey(aKey(number), { identity: anIdentity(round) }),
          );
          return store.insertKeys(newKeys, NO_CHANGES);
        },
        async (store) => {
          const filter = { identityId: null };
          const page = await store.listKeys(WORKSPACE, idOf("api", 1), filter, PAGE);
          assert.equal(page.total % 3, 0);
          assert.equal(page.items.length, page.total);
          for (const { identity } of page.items) assert.notEqual(identity, null);
        },
      );
    },
  },
];
