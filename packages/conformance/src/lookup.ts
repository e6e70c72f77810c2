import assert from "node:assert/strict";
import { NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aKeyLimit,
  aNewKey,
  anApi,
  anIdentity,
  DAY_MS,
  hashOf,
  idOf,
  loadedIdentity,
  NOW,
  WORKSPACE,
} from "./fixtures.js";
import { assertSameKey, insert, listedKeyIds, load, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const FULL_KEY = aKey(1, {
  name: "billing job",
  meta: { team: "billing", tags: ["a", "b"], nested: { deep: [1, { deeper: null }] }, ok: false },
  updatedAt: NOW + 1,
  expiresAt: NOW + DAY_MS,
  switchedOn: false,
  refill: { interval: "monthly", amount: 500, refillDay: 31 },
  ratelimits: [
    { name: "default", limit: 10, durationMs: 1_000, type: "fast", async: true, autoApply: true },
    {
      name: "exports",
      limit: 2,
      durationMs: DAY_MS,
      type: "consistent",
      async: false,
      autoApply: false,
    },
  ],
  environment: "live",
  usesFrom: "identity",
  sealedSecret: "v1.AAECAwQFBgcICQ",
  version: 7,
});

export const lookupPromises: readonly StorePromise[] = [
  {
    title: "a key is found by its hash and by its id, field for field as it was written",
    async check({ store, other }) {
      const usage = { remaining: 12, refilledAt: NOW - DAY_MS };
      await withKeys(store, aNewKey(FULL_KEY, { usage }));
      const expected = {
        key: FULL_KEY,
        usage,
        workspace: await store.getWorkspace(WORKSPACE),
        api: anApi(),
        identity: null,
        identityUsage: null,
        direct: { roles: [], permissions: [] },
        lastUsedAt: null,
        roles: [],
        permissions: [],
      };
      assertSameKey(await other.findKey(FULL_KEY.hash, WORKSPACE), expected);
      assertSameKey(await other.getKey(WORKSPACE, FULL_KEY.id), expected);
    },
  },
  {
    title: "a field that was null is null when it is read, and an empty list is empty",
    async check({ store }) {
      const { key, usage } = await withKeys(store, aNewKey());
      assert.deepEqual(key, aKey());
      assert.deepEqual(usage, { remaining: null, refilledAt: NOW });
    },
  },
  {
    title: "a hash or an id that nothing goes by finds nothing",
    async check({ store }) {
      await withKeys(store, aNewKey());
      for (const unknown of [
        hashOf(2),
        "",
        "__proto__",
        "constructor",
        "%",
        hashOf(1).toLowerCase(),
      ]) {
        assert.equal(await store.findKey(unknown, WORKSPACE), null);
        assert.equal(await store.getKey(WORKSPACE, unknown), null);
        assert.equal(await store.getApi(WORKSPACE, unknown), null);
        assert.equal(await store.getIdentity(WORKSPACE, { identityId: unknown }), null);
        assert.equal(await store.getIdentity(WORKSPACE, { externalId: unknown }), null);
        assert.equal(await store.getRole(WORKSPACE, unknown), null);
        assert.equal(await store.getPermission(WORKSPACE, unknown), null);
        assert.equal(await store.findRootKey(unknown), null);
      }
    },
  },
  {
    title: "an API is found by its id as it was written",
    async check({ store, other }) {
      const api = anApi(3, {
        ipWhitelist: ["10.0.0.0/8", "2001:db8::/32"],
        deleteProtection: true,
        version: 4,
        name: "日本語 \"quoted\" 'api' \\ 100 %",
      });
      await store.insertApi(api, NO_CHANGES);
      assert.deepEqual(await other.getApi(WORKSPACE, api.id), api);
    },
  },
  {
    title: "whole numbers up to 2^53 - 1 are read as they were written",
    async check({ store }) {
      const most = Number.MAX_SAFE_INTEGER;
      const key = aKey(1, {
        expiresAt: most,
        refill: { interval: "daily", amount: most },
        ratelimits: [aKeyLimit("default", most, most)],
      });
      const loaded = await withKeys(
        store,
        aNewKey(key, { usage: { remaining: most, refilledAt: most } }),
      );
      assert.deepEqual(loaded.key, key);
      assert.deepEqual(loaded.usage, { remaining: most, refilledAt: most });
    },
  },
  {
    title: "text and metadata are read as they were written, whatever the characters",
    async check({ store }) {
      const text = "a 'b' \"c\" \\ \n\t % _ ; -- 😀 é e\u0301 \u2028 ﷽";
      const meta = {
        [text]: text,
        "": "empty name",
        toString: "not a method",
        list: [[], {}, "", 0, -1.5, 1e300, true, null],
        control: "\u0000\u001f",
      };
      const identity = anIdentity(1, { externalId: text, meta });
      const key = aKey(1, { name: text, meta });
      const loaded = await withKeys(store, aNewKey(key, { identity }));
      assert.equal(loaded.key.name, text);
      assert.deepEqual(loaded.key.meta, meta);
      assert.deepEqual(loaded.identity, identity);
      assert.deepEqual(
        await store.getIdentity(WORKSPACE, { externalId: text }),
        loadedIdentity(identity),
      );
    },
  },
  {
    title: "metadata that is empty and metadata that is absent stay apart",
    async check({ store }) {
      await withKeys(store, aNewKey(aKey(1, { meta: {} })), aNewKey(aKey(2)));
      assert.deepEqual((await load(store, idOf("key", 1))).key.meta, {});
      assert.equal((await load(store, idOf("key", 2))).key.meta, null);
    },
  },
  {
    title: "a key with a hash that is taken is refused, and nothing of it is written",
    async check({ store }) {
      const first = await withKeys(store, aNewKey());
      const second = aNewKey(aKey(2, { hash: hashOf(1) }), { identity: anIdentity() });
      assert.deepEqual(await store.insertKeys([second], NO_CHANGES), {
        kind: "hash-taken",
        index: 0,
      });
      assertSameKey(await store.findKey(hashOf(1), WORKSPACE), first);
      assert.deepEqual(await listedKeyIds(store), [first.key.id]);
      assert.equal(await store.getIdentity(WORKSPACE, { externalId: "user-1" }), null);
    },
  },
  {
    title: "a key of an API that does not exist is refused, and nothing of it is written",
    async check({ store }) {
      const key = aNewKey(aKey(), { identity: anIdentity() });
      assert.deepEqual(await store.insertKeys([key], NO_CHANGES), {
        kind: "api-not-found",
        index: 0,
      });
      assert.equal(await store.findKey(hashOf(1), WORKSPACE), null);
      assert.equal(await store.getIdentity(WORKSPACE, { externalId: "user-1" }), null);
      await store.insertApi(anApi(), NO_CHANGES);
      await insert(store, key);
    },
  },
];
