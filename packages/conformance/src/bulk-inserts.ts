import assert from "node:assert/strict";
import { type KeyStore, type NewKey, NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aKeyLimit,
  aNewKey,
  anApi,
  anIdentity,
  aPermission,
  aRole,
  byId,
  hashOf,
  idOf,
  NOW,
  named,
  orCreate,
  UNLIMITED,
  WORKSPACE,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { insert, listedKeyIds, load } from "./scene.js";
import type { Stage, StorePromise } from "./store-promise.js";

const PAGE = { afterId: null, limit: 1 };

function insertAll(store: KeyStore, newKeys: readonly NewKey[]) {
  return store.insertKeys(newKeys, NO_CHANGES);
}

async function totals(store: KeyStore): Promise<readonly number[]> {
  const keys = await Promise.all(
    [1, 2].map((api) => store.listKeys(WORKSPACE, idOf("api", api), { identityId: null }, PAGE)),
  );
  return [...keys.map(({ total }) => total), (await store.listIdentities(WORKSPACE, PAGE)).total];
}

/** Keys of which one is refused, beside keys that would make an identity, a role and a permission. */
const REFUSED: readonly {
  readonly why: string;
  readonly refused: NewKey;
  readonly expected: unknown;
}[] = [
  {
    why: "an API that does not exist",
    refused: aNewKey(aKey(3, { apiId: "api_unknown" })),
    expected: { kind: "api-not-found", index: 2 },
  },
  {
    why: "a hash that is taken",
    refused: aNewKey(aKey(3, { hash: hashOf(9) })),
    expected: { kind: "hash-taken", index: 2 },
  },
  {
    why: "the hash of an earlier one of the same call",
    refused: aNewKey(aKey(3, { hash: hashOf(1) })),
    expected: { kind: "hash-taken", index: 2 },
  },
  {
    why: "a missing role",
    refused: aNewKey(aKey(3), { grants: { roles: [named("missing")] } }),
    expected: { kind: "missing-grants", roles: ["missing"], permissions: [] },
  },
];

export const bulkInsertPromises: readonly StorePromise[] = [
  {
    title: "many keys are written at once, of several APIs, in any order of their ids",
    async check({ store, other }) {
      await store.insertApi(anApi(1), NO_CHANGES);
      await store.insertApi(anApi(2), NO_CHANGES);
      const numbers = Array.from({ length: 100 }, (_, index) => 1 + ((index * 37) % 100));
      const newKeys = numbers.map((number) =>
        aNewKey(aKey(number, { apiId: idOf("api", 1 + (number % 2)), name: `key ${number}` }), {
          usage: { remaining: number, refilledAt: NOW },
        }),
      );
      assert.deepEqual(await insertAll(store, newKeys), { kind: "inserted", created: [] });
      const odd = numbers.filter((number) => number % 2 === 0).sort((one, two) => one - two);
      assert.deepEqual(
        await listedKeyIds(other),
        odd.map((number) => idOf("key", number)),
      );
      assert.deepEqual(await totals(other), [50, 50, 0]);
      for (const { key, usage } of [newKeys[0], newKeys[63], newKeys[99]] as NewKey[]) {
        const found = await other.findKey(key.hash, WORKSPACE);
        assert.deepEqual([found?.key, found?.usage], [key, usage]);
      }
    },
  },
  ...REFUSED.map(({ why, refused, expected }) => ({
    title: `of many keys none is written where one of them has ${why}`,
    async check({ store, other }: Stage) {
      await store.insertApi(anApi(1), NO_CHANGES);
      await insert(store, aNewKey(aKey(9)));
      const grants = {
        roles: [orCreate(aRole("fresh", 5))],
        permissions: [orCreate(aPermission("fresh", 5))],
      };
      const fine = [aNewKey(aKey(1), { identity: anIdentity(), grants }), aNewKey(aKey(2))];
      assert.deepEqual(await insertAll(store, [...fine, refused, aNewKey(aKey(4))]), expected);
      assert.deepEqual(await listedKeyIds(other), [idOf("key", 9)]);
      assert.deepEqual(await totals(other), [1, 0, 0]);
      assert.deepEqual(await other.listRoles(WORKSPACE), []);
      assert.deepEqual(await other.listPermissions(WORKSPACE), []);
      for (const number of [1, 2, 3, 4]) {
        assert.equal(await other.findKey(hashOf(number), WORKSPACE), null);
        assert.equal(await other.getKey(WORKSPACE, idOf("key", number)), null);
      }
      const { kind } = await insertAll(other, [...fine, aNewKey(aKey(4))]);
      assert.equal(kind, "inserted");
    },
  })),
  {
    title: "of many refused keys the first one in the order given is named",
    async check({ store }) {
      await store.insertApi(anApi(1), NO_CHANGES);
      await insert(store, aNewKey(aKey(9)));
      const taken = aNewKey(aKey(2, { hash: hashOf(9) }));
      const lost = aNewKey(aKey(3, { apiId: "api_unknown" }));
      const fine = aNewKey(aKey(1));
      const first = await insertAll(store, [fine, taken, lost]);
      assert.deepEqual(first, { kind: "hash-taken", index: 1 });
      const second = await insertAll(store, [lost, fine, taken]);
      assert.deepEqual(second, { kind: "api-not-found", index: 0 });
    },
  },
  {
    title: "what is missing is named for all keys together, each once, in the order asked",
    async check({ store }) {
      await store.insertApi(anApi(1), NO_CHANGES);
      await store.insertPermission(aPermission("a"), NO_CHANGES);
      const [first, second, third] = [
        { roles: [named("zebra")], permissions: [named("a"), named("p2")] },
        { roles: [byId("role_unknown"), named("zebra")] },
        { permissions: [byId("perm_unknown"), named("p2"), named("p1")] },
      ].map((grants, index) => aNewKey(aKey(index + 1), { grants })) as [NewKey, NewKey, NewKey];
      assert.deepEqual(await insertAll(store, [first, second, third]), {
        kind: "missing-grants",
        roles: ["zebra", "role_unknown"],
        permissions: ["p2", "perm_unknown", "p1"],
      });
      assert.deepEqual(await listedKeyIds(store), []);
    },
  },
  {
    title: "what keys of one call ask for on demand is made once and shared, and said to be made",
    async check({ store, other }) {
      await store.insertApi(anApi(1), NO_CHANGES);
      await store.insertIdentity(anIdentity(7), UNLIMITED, NO_CHANGES);
      const newKeys = [1, 2, 3].map((number) =>
        aNewKey(aKey(number), {
          identity: anIdentity(number, { externalId: "shared" }),
          grants: {
            roles: [orCreate(aRole("reader", number))],
            permissions: [orCreate(aPermission("docs.read", number))],
          },
        }),
      );
      const known = aNewKey(aKey(4), { identity: anIdentity(4, { externalId: "user-7" }) });
      const result = await insertAll(store, [...newKeys, known]);
      assert.ok(result.kind === "inserted");
      const made = [idOf("id", 1), idOf("perm", 1), idOf("role", 1)];
      assert.deepEqual(result.created.toSorted(), made);
      const shared = anIdentity(1, { externalId: "shared" });
      assert.deepEqual(await listedKeyIds(other, shared.id), [1, 2, 3].map(keyId));
      assert.deepEqual(await listedKeyIds(other, idOf("id", 7)), [keyId(4)]);
      for (const number of [1, 2, 3]) {
        const { identity, direct } = await load(other, keyId(number));
        assert.deepEqual(identity, shared);
        assert.deepEqual(direct, {
          roles: [{ id: idOf("role", 1), name: "reader" }],
          permissions: [{ id: idOf("perm", 1), name: "docs.read" }],
        });
      }
      assert.deepEqual(await totals(other), [4, 0, 2]);
      const again = { ...(newKeys[1] as NewKey), key: aKey(5) };
      assert.deepEqual(await insertAll(other, [again]), { kind: "inserted", created: [] });
    },
  },
  {
    title: "an update says what it made on demand, and nothing that was there before",
    async check({ store }) {
      await store.insertApi(anApi(1), NO_CHANGES);
      await insert(store);
      const patch = {
        identity: anIdentity(3),
        grants: {
          roles: [orCreate(aRole("reader", 3))],
          permissions: [orCreate(aPermission("docs.read", 3))],
        },
      };
      for (const created of [[idOf("id", 3), idOf("perm", 3), idOf("role", 3)], []]) {
        const { version } = (await load(store)).key;
        const result = await store.updateKey(WORKSPACE, keyId(1), version, patch, NO_CHANGES);
        assert.ok(result.kind === "updated");
        assert.deepEqual(result.created.toSorted(), created);
      }
    },
  },
  {
    title: "of racing batches that share a hash exactly one is written",
    async check(stage) {
      await stage.store.insertApi(anApi(1), NO_CHANGES);
      const batchOf = (number: number) =>
        [1, 2, 3].map((index) =>
          aNewKey(aKey(10 * number + index, index === 2 ? { hash: hashOf(999) } : {}), {
            identity: anIdentity(number, { externalId: "shared" }),
          }),
        );
      const answers = await race(stage, 12, (store, number) => insertAll(store, batchOf(number)));
      const kinds = answers.map(({ kind }) => kind);
      assert.deepEqual(tally(kinds), { inserted: 1, "hash-taken": 11 });
      const winner = batchOf(kinds.indexOf("inserted")).map(({ key }) => key.id);
      assert.deepEqual(await listedKeyIds(stage.other), winner);
      assert.deepEqual(await totals(stage.other), [3, 0, 1]);
    },
  },
  {
    title: "several limits of a key are kept as they are written, in their order",
    async check({ store, other }) {
      await store.insertApi(anApi(1), NO_CHANGES);
      const ratelimits = [
        { ...aKeyLimit("zebra", 3), autoApply: true },
        { ...aKeyLimit("default", 5, 1_000), type: "fast" as const, async: true },
        { ...aKeyLimit("a b", 1, 86_400_000), type: "consistent" as const },
        ...Array.from({ length: 47 }, (_, index) => aKeyLimit(`limit-${index}`, index + 1)),
      ];
      const shared = ratelimits.map(({ name, limit, durationMs, autoApply }) => ({
        name,
        limit,
        durationMs,
        autoApply: !autoApply,
      }));
      const identity = anIdentity(1, { ratelimits: shared });
      await insert(store, aNewKey(aKey(1, { ratelimits }), { identity }));
      const loaded = await load(other);
      assert.deepEqual(loaded.key.ratelimits, ratelimits);
      assert.deepEqual(loaded.identity?.ratelimits, shared);
    },
  },
];

function keyId(number: number): string {
  return idOf("key", number);
}
