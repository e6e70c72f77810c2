import assert from "node:assert/strict";
import { type KeyStore, NO_CHANGES, type PageRequest } from "@latchkey/core";
import {
  aKey,
  aNewKey,
  anApi,
  anIdentity,
  hashOf,
  idOf,
  loadedIdentity,
  OTHER_WORKSPACE,
  REMOVAL,
  UNLIMITED,
  WORKSPACE,
} from "./fixtures.js";
import { race } from "./race.js";
import { assertSameKey, insert, listedKeyIds, readAll, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const API_ID = idOf("api", 1);
const COUNT = 23;

/** Numbers 1 to {@link COUNT}, each once, in no order. */
const SHUFFLED = Array.from({ length: COUNT }, (_, index) => 1 + ((index * 7 + 3) % COUNT));
const ASCENDING = SHUFFLED.map((number) => idOf("key", number)).sort();

async function withShuffledKeys(store: KeyStore): Promise<void> {
  await store.insertApi(anApi(), NO_CHANGES);
  for (const number of SHUFFLED) await insert(store, aNewKey(aKey(number)));
}

function keysPage(store: KeyStore, page: PageRequest, identityId: string | null = null) {
  return store.listKeys(WORKSPACE, API_ID, { identityId }, page);
}

async function totalOf(store: KeyStore): Promise<number> {
  return (await keysPage(store, { afterId: null, limit: 1 })).total;
}

export const paginationPromises: readonly StorePromise[] = [
  {
    title: "pages of any size list every key once, in ascending order of id",
    async check({ store, other }) {
      await withShuffledKeys(store);
      for (const limit of [1, 2, COUNT - 1, COUNT, COUNT + 1, 100]) {
        const { items, pages, total } = await readAll(
          (page) => keysPage(other, page),
          ({ key }) => key.id,
          limit,
        );
        assert.deepEqual(
          items.map(({ key }) => key.id),
          ASCENDING,
        );
        assert.equal(pages, Math.ceil(COUNT / limit));
        assert.equal(total, COUNT);
      }
    },
  },
  {
    title: "a listed key is the key as it is read by its id",
    async check({ store }) {
      const identity = anIdentity();
      const loaded = await withKeys(store, aNewKey(aKey(1, { name: "listed" }), { identity }));
      const { items } = await keysPage(store, { afterId: null, limit: 1 });
      assert.equal(items.length, 1);
      assertSameKey(items[0] ?? null, loaded);
    },
  },
  {
    title: "a page says that more follow only when more follow",
    async check({ store }) {
      await withShuffledKeys(store);
      for (const [afterId, limit, hasMore] of [
        [null, COUNT - 1, true],
        [null, COUNT, false],
        [ASCENDING[20], 1, true],
        [ASCENDING[20], 2, false],
        [ASCENDING[20], 3, false],
        [ASCENDING[COUNT - 1], 1, false],
      ] as const) {
        const page = await keysPage(store, { afterId: afterId ?? null, limit });
        assert.equal(page.hasMore, hasMore, `after ${afterId}, ${limit} items`);
      }
    },
  },
  {
    title: "a page after a key that was deleted goes on from where that key was",
    async check({ store }) {
      await withShuffledKeys(store);
      const afterId = ASCENDING[9] as string;
      await store.deleteKey(WORKSPACE, afterId, REMOVAL, NO_CHANGES);
      const { items } = await keysPage(store, { afterId, limit: 3 });
      assert.deepEqual(
        items.map(({ key }) => key.id),
        ASCENDING.slice(10, 13),
      );
    },
  },
  {
    title: "keys that come and go between two pages neither hide nor repeat another",
    async check({ store, other }) {
      await withShuffledKeys(store);
      const seen: string[] = [];
      let afterId: string | null = null;
      for (let round = 0; ; round += 1) {
        const page = await keysPage(store, { afterId, limit: 5 });
        seen.push(...page.items.map(({ key }) => key.id));
        if (!page.hasMore) break;
        afterId = seen.at(-1) as string;
        await other.deleteKey(WORKSPACE, seen[0] as string, REMOVAL, NO_CHANGES);
        if (round === 0)
          await other.deleteKey(WORKSPACE, ASCENDING[7] as string, REMOVAL, NO_CHANGES);
        await insert(other, aNewKey(aKey(100 + round, { id: `key_${"0".repeat(1 + round)}` })));
      }
      assert.deepEqual(seen, ASCENDING.toSpliced(7, 1));
    },
  },
  {
    title: "the keys of one identity are listed alone, and the total still counts all",
    async check({ store, other }) {
      await store.insertApi(anApi(), NO_CHANGES);
      await store.insertApi(anApi(2), NO_CHANGES);
      for (const number of SHUFFLED) {
        const identity = anIdentity(1 + (number % 3));
        await insert(store, aNewKey(aKey(number), { identity }));
        const elsewhere = aKey(100 + number, { apiId: idOf("api", 2) });
        await insert(store, aNewKey(elsewhere, { identity }));
      }
      for (const remainder of [0, 1, 2]) {
        const expected = SHUFFLED.filter((number) => number % 3 === remainder).map((number) =>
          idOf("key", number),
        );
        for (const limit of [1, 3, expected.length, 100]) {
          const { items, total } = await readAll(
            (page) => keysPage(other, page, idOf("id", 1 + remainder)),
            ({ key }) => key.id,
            limit,
          );
          assert.deepEqual(
            items.map(({ key }) => key.id),
            expected.sort(),
          );
          assert.equal(total, COUNT);
        }
      }
    },
  },
  {
    title: "the total counts live keys only: not refused ones, not deleted ones",
    async check({ store, other }) {
      await withShuffledKeys(store);
      await store.insertKeys([aNewKey(aKey(99, { hash: hashOf(1) }))], NO_CHANGES);
      assert.equal(await totalOf(other), COUNT);
      await store.deleteKey(WORKSPACE, ASCENDING[0] as string, REMOVAL, NO_CHANGES);
      await store.deleteKey(WORKSPACE, ASCENDING[0] as string, REMOVAL, NO_CHANGES);
      assert.equal(await totalOf(other), COUNT - 1);
    },
  },
  {
    title: "keys created and deleted in parallel are all listed and counted",
    async check(stage) {
      await stage.store.insertApi(anApi(), NO_CHANGES);
      await race(stage, 30, async (store, number) => {
        await insert(store, aNewKey(aKey(number)));
        if (number % 3 === 0)
          await store.deleteKey(WORKSPACE, idOf("key", number), REMOVAL, NO_CHANGES);
      });
      assert.equal((await listedKeyIds(stage.store)).length, 20);
      assert.equal(await totalOf(stage.store), 20);
    },
  },
  {
    title: "the list of an API or an identity that does not exist is empty",
    async check({ store }) {
      const empty = { items: [], hasMore: false, total: 0 };
      const page = { afterId: null, limit: 10 };
      assert.deepEqual(await store.listKeys(WORKSPACE, API_ID, { identityId: null }, page), empty);
      assert.deepEqual(await store.listIdentities(WORKSPACE, page), empty);
      await withKeys(store, aNewKey());
      assert.deepEqual(await keysPage(store, page, "id_unknown"), { ...empty, total: 1 });
      assert.deepEqual(await store.listIdentities(OTHER_WORKSPACE, page), empty);
    },
  },
  {
    title: "identities are listed once each in ascending order of id, with their total",
    async check({ store, other }) {
      for (const number of SHUFFLED)
        await store.insertIdentity(anIdentity(number), UNLIMITED, NO_CHANGES);
      for (const limit of [1, 4, COUNT, 100]) {
        const { items, total } = await readAll(
          (page) => other.listIdentities(WORKSPACE, page),
          ({ identity }) => identity.id,
          limit,
        );
        assert.deepEqual(
          items,
          SHUFFLED.toSorted((one, two) => one - two).map((number) =>
            loadedIdentity(anIdentity(number)),
          ),
        );
        assert.equal(total, COUNT);
      }
    },
  },
];
