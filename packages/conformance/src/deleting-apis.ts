import assert from "node:assert/strict";
import {
  aKey,
  aKeyWithUses,
  aNewKey,
  anApi,
  anIdentity,
  aPlan,
  hashOf,
  idOf,
  NOW,
  WORKSPACE,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { insert, listedKeyIds, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const API_ID = idOf("api", 1);

export const deletingApisPromises: readonly StorePromise[] = [
  {
    title:
      "the keys of a deleted API are found, listed, changed and charged no more, from any process",
    async check({ store, other }) {
      const loaded = await withKeys(store, aKeyWithUses(5));
      assert.equal((await other.charge(aPlan(loaded))).kind, "charged");
      assert.equal(await store.deleteApi(WORKSPACE, API_ID), "deleted");
      for (const handle of [other, store]) {
        assert.equal(await handle.getApi(WORKSPACE, API_ID), null);
        assert.equal(await handle.findKey(hashOf(1), WORKSPACE), null);
        assert.equal(await handle.getKey(WORKSPACE, loaded.key.id), null);
        assert.deepEqual(await listedKeyIds(handle), []);
        assert.deepEqual(await handle.charge(aPlan(loaded)), { kind: "stale" });
        const update = await handle.updateKey(WORKSPACE, loaded.key.id, 1, { name: "late" });
        assert.deepEqual(update, { kind: "not-found" });
        assert.equal(await handle.deleteKey(WORKSPACE, loaded.key.id, NOW), "not-found");
        assert.equal(await handle.deleteApi(WORKSPACE, API_ID), "not-found");
      }
    },
  },
  {
    title: "deleting an API raises the epoch",
    async check({ store, other }) {
      await store.insertApi(anApi());
      const before = await other.getWorkspace(WORKSPACE);
      await store.deleteApi(WORKSPACE, API_ID);
      assert.ok((await other.getWorkspace(WORKSPACE)).epoch > before.epoch);
    },
  },
  {
    title: "a key is not written to a deleted API",
    async check({ store, other }) {
      await store.insertApi(anApi());
      await store.deleteApi(WORKSPACE, API_ID);
      const outcome = await other.insertKey(aNewKey(aKey(), { identity: anIdentity() }));
      assert.deepEqual(outcome, { kind: "api-not-found" });
      assert.equal(await store.getIdentity(WORKSPACE, { externalId: "user-1" }), null);
    },
  },
  {
    title: "an API of another workspace is not deleted, nor are its keys",
    async check({ store }) {
      const loaded = await withKeys(store, aKeyWithUses(5));
      assert.equal(await store.deleteApi("ws_other", API_ID), "not-found");
      const outcome = await store.deleteKeys("ws_other", API_ID, 10, NOW);
      assert.deepEqual(outcome, { deleted: 0, hasMore: false });
      assert.equal((await store.charge(aPlan(loaded))).kind, "charged");
    },
  },
  {
    title:
      "keys are deleted a bounded number at a time, each counted once, and their identity stays",
    async check({ store, other }) {
      await store.insertApi(anApi(2));
      await withKeys(store, aNewKey(aKey(1), { identity: anIdentity() }));
      for (let number = 2; number <= 7; number += 1) await insert(store, aNewKey(aKey(number)));
      await insert(store, aNewKey(aKey(8, { apiId: idOf("api", 2) })));
      assert.deepEqual(await store.deleteKeys(WORKSPACE, API_ID, 3, NOW), {
        deleted: 3,
        hasMore: true,
      });
      assert.equal((await listedKeyIds(other)).length, 4);
      assert.deepEqual(await other.deleteKeys(WORKSPACE, API_ID, 4, NOW), {
        deleted: 4,
        hasMore: false,
      });
      assert.deepEqual(await store.deleteKeys(WORKSPACE, API_ID, 4, NOW), {
        deleted: 0,
        hasMore: false,
      });
      assert.deepEqual(await listedKeyIds(other), []);
      const page = await other.listKeys(
        WORKSPACE,
        API_ID,
        { identityId: null },
        { afterId: null, limit: 1 },
      );
      assert.equal(page.total, 0);
      for (let number = 1; number <= 7; number += 1) {
        assert.equal(await other.findKey(hashOf(number), WORKSPACE), null);
      }
      assert.notEqual(await other.findKey(hashOf(8), WORKSPACE), null);
      assert.deepEqual(await other.getIdentity(WORKSPACE, { externalId: "user-1" }), anIdentity());
    },
  },
  {
    title: "the keys of a deleted API are deleted in the same way, and their hashes are free again",
    async check({ store, other }) {
      await withKeys(store, aNewKey(aKey(1)), aNewKey(aKey(2)));
      await store.deleteApi(WORKSPACE, API_ID);
      assert.deepEqual(await other.deleteKeys(WORKSPACE, API_ID, 1, NOW), {
        deleted: 1,
        hasMore: true,
      });
      assert.deepEqual(await store.deleteKeys(WORKSPACE, API_ID, 1, NOW), {
        deleted: 1,
        hasMore: false,
      });
      await store.insertApi(anApi(2));
      const again = aKey(3, { apiId: idOf("api", 2), hash: hashOf(1) });
      assert.deepEqual(await other.insertKey(aNewKey(again)), { kind: "inserted" });
    },
  },
  {
    title: "of many racers that delete one API exactly one deletes it",
    async check(stage) {
      await stage.store.insertApi(anApi());
      const answers = await race(stage, 12, (store) => store.deleteApi(WORKSPACE, API_ID));
      assert.deepEqual(tally(answers), { deleted: 1, "not-found": 11 });
    },
  },
  {
    title: "racers that delete the keys of one API delete each of them once",
    async check(stage) {
      await withKeys(stage.store, aNewKey(aKey(1)));
      for (let number = 2; number <= 40; number += 1)
        await insert(stage.store, aNewKey(aKey(number)));
      const counts = await race(stage, 12, async (store) => {
        let count = 0;
        for (;;) {
          const { deleted, hasMore } = await store.deleteKeys(WORKSPACE, API_ID, 5, NOW);
          count += deleted;
          if (!hasMore) return count;
        }
      });
      assert.equal(
        counts.reduce((sum, count) => sum + count, 0),
        40,
      );
    },
  },
];
