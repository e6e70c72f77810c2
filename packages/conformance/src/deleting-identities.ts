import assert from "node:assert/strict";
import { type KeyStore, NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aNewKey,
  anIdentity,
  aPlan,
  aSharedLimit,
  idOf,
  loadedIdentity,
  NOW,
  takeFrom,
  UNLIMITED,
  WORKSPACE,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { assertUpdated, insert, listedKeyIds, load, usesLeft, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const IDENTITY_ID = idOf("id", 1);
const LIMIT = aSharedLimit("requests", 3);
const IDENTITY = anIdentity(1, { ratelimits: [LIMIT] });
const PAGE = { afterId: null, limit: 10 };

/** Two keys of one identity with 8 shared uses: the first draws from its own 5, the second from the shared ones. */
async function withLinked(store: KeyStore) {
  const shared = { remaining: 8, refilledAt: NOW };
  await store.insertIdentity(IDENTITY, shared, NO_CHANGES);
  const usage = { remaining: 5, refilledAt: NOW };
  const link = { identityId: IDENTITY_ID };
  const own = await withKeys(store, aNewKey(aKey(1, link), { usage }));
  await insert(store, aNewKey(aKey(2, { ...link, usesFrom: "identity" }), { usage }));
  return { own, drawing: await load(store, idOf("key", 2)) };
}

function remove(store: KeyStore) {
  return store.deleteIdentity(WORKSPACE, IDENTITY_ID, NO_CHANGES);
}

export const deletingIdentitiesPromises: readonly StorePromise[] = [
  {
    title: "a deleted identity is found, listed, updated and counted no more, from any process",
    async check({ store, other }) {
      await withLinked(store);
      await store.insertIdentity(anIdentity(2), UNLIMITED, NO_CHANGES);
      assert.equal(await remove(store), "deleted");
      for (const handle of [other, store]) {
        const { externalId } = IDENTITY;
        assert.equal(await handle.getIdentity(WORKSPACE, { externalId }), null);
        assert.equal(await handle.getIdentity(WORKSPACE, { identityId: IDENTITY_ID }), null);
        assert.deepEqual(await handle.listIdentities(WORKSPACE, PAGE), {
          items: [loadedIdentity(anIdentity(2))],
          hasMore: false,
          total: 1,
        });
        const patch = { meta: {} };
        const updated = handle.updateIdentity(WORKSPACE, IDENTITY_ID, 1, patch, NO_CHANGES);
        assert.deepEqual(await updated, { kind: "not-found" });
        assert.equal(await remove(handle), "not-found");
      }
    },
  },
  {
    title: "the keys of a deleted identity stay, linked to none",
    async check({ store, other }) {
      const { own } = await withLinked(store);
      await other.getKey(WORKSPACE, own.key.id);
      await remove(store);
      for (const handle of [other, store]) {
        assert.deepEqual(await listedKeyIds(handle), [idOf("key", 1), idOf("key", 2)]);
        assert.deepEqual(await listedKeyIds(handle, IDENTITY_ID), []);
        for (const found of [await load(handle), await handle.findKey(own.key.hash, WORKSPACE)]) {
          assert.deepEqual([found?.identity, found?.identityUsage], [null, null]);
          assert.equal(found?.key.version, own.key.version);
        }
      }
    },
  },
  {
    title: "no charge on what was read before an identity was deleted goes through",
    async check({ store, other }) {
      const { own, drawing } = await withLinked(store);
      assert.equal((await other.charge(aPlan(own))).kind, "charged");
      await remove(store);
      for (const handle of [other, store]) {
        for (const loaded of [own, drawing]) {
          assert.deepEqual(await handle.charge(aPlan(loaded)), { kind: "stale" });
          const look = aPlan(loaded, { mode: "look" });
          assert.deepEqual(await handle.charge(look), { kind: "stale" });
        }
      }
    },
  },
  {
    title: "a key that drew from a deleted identity has no uses, and one with uses of its own has",
    async check({ store, other }) {
      const { own, drawing } = await withLinked(store);
      await remove(store);
      for (const handle of [other, store]) {
        const plan = aPlan(await load(handle, drawing.key.id), { cost: 0 });
        assert.equal((await handle.charge(plan)).kind, "usage-exceeded");
        const mine = aPlan(await load(handle, own.key.id));
        assert.equal((await handle.charge(mine)).kind, "charged");
      }
      assert.equal(await usesLeft(store, own.key.id), 3);
      assert.equal(await usesLeft(store, drawing.key.id), 5);
    },
  },
  {
    title:
      "an identity made anew under the same external id has none of the old one's keys and counters",
    async check({ store, other }) {
      const { own } = await withLinked(store);
      await store.charge(aPlan(own, { limits: [takeFrom("identity", LIMIT, 3)] }));
      await remove(store);
      const anew = anIdentity(2, { externalId: IDENTITY.externalId, ratelimits: [LIMIT] });
      assert.equal(await other.insertIdentity(anew, UNLIMITED, NO_CHANGES), "inserted");
      assert.deepEqual(await listedKeyIds(other, anew.id), []);
      assert.equal((await load(store)).identity, null);
      const found = await store.getIdentity(WORKSPACE, { externalId: anew.externalId });
      assert.deepEqual(found, loadedIdentity(anew));
      await insert(store, aNewKey(aKey(3), { identity: { ...anew, id: idOf("id", 3) } }));
      const third = await load(other, idOf("key", 3));
      assert.deepEqual(third.identity, anew);
      const limits = [takeFrom("identity", LIMIT, 3)];
      assert.equal((await other.charge(aPlan(third, { limits }))).kind, "charged");
      assert.deepEqual(await listedKeyIds(store, anew.id), [third.key.id]);
    },
  },
  {
    title: "a key whose identity was deleted can be linked to another one, and unlinked",
    async check({ store, other }) {
      await withLinked(store);
      await remove(store);
      for (const [version, identity] of [
        [1, anIdentity(2)],
        [2, null],
      ] as const) {
        const patch = { identity };
        assertUpdated(await store.updateKey(WORKSPACE, idOf("key", 1), version, patch, NO_CHANGES));
        assert.deepEqual((await load(other)).identity, identity);
      }
      assert.deepEqual(await listedKeyIds(other, idOf("id", 2)), []);
    },
  },
  {
    title: "of many racers that delete one identity exactly one deletes it",
    async check(stage) {
      await withLinked(stage.store);
      const answers = await race(stage, 12, remove);
      assert.deepEqual(tally(answers), { deleted: 1, "not-found": 11 });
      assert.equal((await stage.other.listIdentities(WORKSPACE, PAGE)).total, 0);
    },
  },
  {
    title:
      "an identity deleted while keys ask for it leaves each key linked to one that exists or to none",
    async check(stage) {
      await withLinked(stage.store);
      await race(stage, 16, async (store, number) => {
        if (number === 6) return remove(store);
        const { externalId } = IDENTITY;
        const identity = anIdentity(10 + number, { externalId });
        return insert(store, aNewKey(aKey(10 + number), { identity }));
      });
      const { items, total } = await stage.other.listIdentities(WORKSPACE, PAGE);
      assert.equal(total, items.length);
      assert.ok(total <= 1, "two identities of one external id");
      const [left] = items;
      const linked: string[] = [];
      for (const id of await listedKeyIds(stage.store)) {
        const { identity } = await load(stage.other, id);
        if (identity === null) continue;
        assert.deepEqual(identity, left?.identity);
        linked.push(id);
      }
      const listed = await listedKeyIds(stage.store, left?.identity.id ?? IDENTITY_ID);
      assert.deepEqual(listed, linked);
    },
  },
];
