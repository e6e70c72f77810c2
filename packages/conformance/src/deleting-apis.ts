import assert from "node:assert/strict";
import { type KeyStore, NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aKeyWithUses,
  aNewKey,
  anApi,
  anIdentity,
  aPlan,
  hashOf,
  idOf,
  loadedIdentity,
  NOW,
  REMOVAL,
  WORKSPACE,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { insert, listedKeyIds, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const API_ID = idOf("api", 1);

/** How many keys were deleted, each named once. */
function counted({ deleted, hasMore }: Awaited<ReturnType<KeyStore["deleteKeys"]>>) {
  return { deleted: new Set(deleted).size, hasMore };
}

export const deletingApisPromises: readonly StorePromise[] = [
  {
    title:
      "the keys of a deleted API are found, listed, changed and charged no more, from any process",
    async check({ store, other }) {
      const loaded = await withKeys(store, aKeyWithUses(5));
      assert.equal((await other.charge(aPlan(loaded))).kind, "charged");
      assert.equal(await store.deleteApi(WORKSPACE, API_ID, NO_CHANGES), "deleted");
      for (const handle of [other, store]) {
        assert.equal(await handle.getApi(WORKSPACE, API_ID), null);
        assert.equal(await handle.findKey(hashOf(1), WORKSPACE), null);
        assert.equal(await handle.getKey(WORKSPACE, loaded.key.id), null);
        assert.deepEqual(await listedKeyIds(handle), []);
        assert.deepEqual(await handle.charge(aPlan(loaded)), { kind: "stale" });
        const update = await handle.updateKey(
          WORKSPACE,
          loaded.key.id,
          1,
          { name: "late" },
          NO_CHANGES,
        );
        assert.deepEqual(update, { kind: "not-found" });
        assert.equal(
          await handle.deleteKey(WORKSPACE, loaded.key.id, REMOVAL, NO_CHANGES),
          "not-found",
        );
        assert.equal(await handle.deleteApi(WORKSPACE, API_ID, NO_CHANGES), "not-found");
      }
    },
  },
  {
    title: "deleting an API raises the epoch",
    async check({ store, other }) {
      await store.insertApi(anApi(), NO_CHANGES);
      const before = await other.getWorkspace(WORKSPACE);
      await store.deleteApi(WORKSPACE, API_ID, NO_CHANGES);
      assert.ok((await other.getWorkspace(WORKSPACE)).epoch > before.epoch);
    },
  },
  {
    title: "a key is not written to a deleted API",
    async check({ store, other }) {
      await store.insertApi(anApi(), NO_CHANGES);
      await store.deleteApi(WORKSPACE, API_ID, NO_CHANGES);
      const outcome = await other.insertKeys(
        [aNewKey(aKey(), { identity: anIdentity() })],
        NO_CHANGES,
      );
      assert.deepEqual(outcome, { kind: "api-not-found", index: 0 });
      assert.equal(await store.getIdentity(WORKSPACE, { externalId: "user-1" }), null);
    },
  },
  {
    title: "an API of another workspace is not deleted, nor are its keys",
    async check({ store }) {
      const loaded = await withKeys(store, aKeyWithUses(5));
      assert.equal(await store.deleteApi("ws_other", API_ID, NO_CHANGES), "not-found");
      const outcome = counted(await store.deleteKeys("ws_other", API_ID, 10, NOW, null));
      assert.deepEqual(outcome, { deleted: 0, hasMore: false });
      assert.equal((await store.charge(aPlan(loaded))).kind, "charged");
    },
  },
  {
    title:
      "keys are deleted a bounded number at a time, each counted once, and their identity stays",
    async check({ store, other }) {
      await store.insertApi(anApi(2), NO_CHANGES);
      await withKeys(store, aNewKey(aKey(1), { identity: anIdentity() }));
      for (let number = 2; number <= 7; number += 1) await insert(store, aNewKey(aKey(number)));
      await insert(store, aNewKey(aKey(8, { apiId: idOf("api", 2) })));
      assert.deepEqual(counted(await store.deleteKeys(WORKSPACE, API_ID, 3, NOW, null)), {
        deleted: 3,
        hasMore: true,
      });
      assert.equal((await listedKeyIds(other)).length, 4);
      assert.deepEqual(counted(await other.deleteKeys(WORKSPACE, API_ID, 4, NOW, null)), {
        deleted: 4,
        hasMore: false,
      });
      assert.deepEqual(counted(await store.deleteKeys(WORKSPACE, API_ID, 4, NOW, null)), {
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
      assert.deepEqual(
        await other.getIdentity(WORKSPACE, { externalId: "user-1" }),
        loadedIdentity(),
      );
    },
  },
  {
    title: "the keys of a deleted API are deleted in the same way, and their hashes are free again",
    async check({ store, other }) {
      await withKeys(store, aNewKey(aKey(1)), aNewKey(aKey(2)));
      await store.deleteApi(WORKSPACE, API_ID, NO_CHANGES);
      assert.deepEqual(counted(await other.deleteKeys(WORKSPACE, API_ID, 1, NOW, null)), {
        deleted: 1,
        hasMore: true,
      });
      assert.deepEqual(counted(await store.deleteKeys(WORKSPACE, API_ID, 1, NOW, null)), {
        deleted: 1,
        hasMore: false,
      });
      await store.insertApi(anApi(2), NO_CHANGES);
      const again = aKey(3, { apiId: idOf("api", 2), hash: hashOf(1) });
      await insert(other, aNewKey(again));
    },
  },
  {
    title: "keys written while their API is deleted are found by nobody and go with the rest",
    async check(stage) {
      await stage.store.insertApi(anApi(), NO_CHANGES);
      const answers = await race(stage, 16, async (store, number) => {
        if (number === 7) return store.deleteApi(WORKSPACE, API_ID, NO_CHANGES);
        const batch = [2 * number, 2 * number + 1].map((index) => aNewKey(aKey(index)));
        return (await store.insertKeys(batch, NO_CHANGES)).kind;
      });
      const { inserted = 0, deleted, ...refused } = tally(answers);
      assert.deepEqual([deleted, refused["api-not-found"] ?? 0], [1, 15 - inserted]);
      for (let number = 0; number < 32; number += 1) {
        assert.equal(await stage.other.findKey(hashOf(number), WORKSPACE), null);
      }
      const removal = await stage.other.deleteKeys(WORKSPACE, API_ID, 100, NOW, null);
      assert.deepEqual(counted(removal), { deleted: 2 * inserted, hasMore: false });
    },
  },
  {
    title: "of many racers that delete one API exactly one deletes it",
    async check(stage) {
      await stage.store.insertApi(anApi(), NO_CHANGES);
      const answers = await race(stage, 12, (store) =>
        store.deleteApi(WORKSPACE, API_ID, NO_CHANGES),
      );
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
          const { deleted, hasMore } = await store.deleteKeys(WORKSPACE, API_ID, 5, NOW, null);
          count += deleted.length;
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
