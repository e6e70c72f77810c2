import assert from "node:assert/strict";
import { type KeyStore, NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aKeyLimit,
  aNewKey,
  aPlan,
  aRotation,
  hashOf,
  idOf,
  NOW,
  REMOVAL,
  WORKSPACE,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { aFullKey, NEW, OLD, racerOf, withRotated } from "./rotated-scene.js";
import {
  assertSameKey,
  assertUpdated,
  insert,
  listedKeyIds,
  load,
  rotate,
  usesLeft,
  withKeys,
} from "./scene.js";
import type { StorePromise } from "./store-promise.js";

async function totalOf(store: KeyStore): Promise<number> {
  const page = { afterId: null, limit: 1 };
  const { total } = await store.listKeys(WORKSPACE, idOf("api", 1), { identityId: null }, page);
  return total;
}

export const rotatingPromises: readonly StorePromise[] = [
  {
    title: "a successor has the settings, the identity and the grants of the old key",
    async check({ store, other }) {
      const { before, old, successor } = await withRotated(store);
      const written = aRotation(before).successor;
      assertSameKey(successor, { ...before, key: written });
      assertSameKey(await other.findKey(written.hash, WORKSPACE), successor);
      assert.deepEqual(await listedKeyIds(other), [OLD, NEW]);
      assert.deepEqual(await listedKeyIds(other, idOf("id", 1)), [OLD, NEW]);
      assert.deepEqual(old.direct, successor.direct);
    },
  },
  {
    title: "a successor is written as it is handed in, field for field",
    async check({ store, other }) {
      const before = await withKeys(store, aFullKey());
      const rotation = aRotation(before, 2, {
        start: "next_9",
        name: null,
        meta: { team: "new" },
        expiresAt: NOW + 7,
        switchedOn: false,
        refill: { interval: "monthly", amount: 3, refillDay: 31 },
        ratelimits: [aKeyLimit("other", 5)],
        environment: null,
        usesFrom: "identity",
        sealedSecret: "v1.c2VhbGVk",
        createdAt: NOW + 9,
      });
      await rotate(store, before, rotation);
      assert.deepEqual((await load(other, NEW)).key, rotation.successor);
      const { rotatedTo, countersId, expiresAt, updatedAt, version, ...kept } = (await load(other))
        .key;
      assert.deepEqual(
        { ...before.key, rotatedTo, countersId, expiresAt, updatedAt, version },
        {
          ...kept,
          rotatedTo: NEW,
          countersId: OLD,
          expiresAt: rotation.expiresAt,
          updatedAt: rotation.updatedAt,
          version: 2,
        },
      );
    },
  },
  {
    title: "a charge finds the counters of a rotated key with the handle from before the rotation",
    async check({ store, other }) {
      const { before, old, successor } = await withRotated(store);
      for (const handle of [before.handle, old.handle, undefined]) {
        assert.equal((await store.charge(aPlan(old, { handle }))).kind, "charged");
        assert.equal((await other.charge(aPlan(old, { handle }))).kind, "charged");
      }
      assert.equal((await other.charge(aPlan(successor))).kind, "charged");
      assert.deepEqual([await usesLeft(store, OLD), await usesLeft(other, NEW)], [2, 2]);
    },
  },
  {
    title: "the old key says what became of it: its successor, its counters, its end, its version",
    async check({ store, other }) {
      const { before } = await withRotated(store);
      const { expiresAt, updatedAt } = aRotation(before);
      const key = {
        ...before.key,
        rotatedTo: NEW,
        countersId: OLD,
        expiresAt,
        updatedAt,
        version: before.key.version + 1,
      };
      assertSameKey(await load(other, OLD), { ...before, key });
      assertSameKey(await other.findKey(hashOf(1), WORKSPACE), { ...before, key });
      assert.deepEqual(await other.charge(aPlan(before)), { kind: "stale" });
    },
  },
  {
    title: "both keys of a rotation count in the total",
    async check({ store, other }) {
      await withRotated(store);
      assert.equal(await totalOf(other), 2);
      await store.deleteKey(WORKSPACE, OLD, REMOVAL, NO_CHANGES);
      assert.equal(await totalOf(other), 1);
    },
  },
  {
    title: "settings of the keys of a rotation are each their own",
    async check({ store, other }) {
      const { old } = await withRotated(store);
      const patch = { name: "new", switchedOn: false, grants: { roles: [], permissions: [] } };
      assertUpdated(await store.updateKey(WORKSPACE, NEW, 1, patch, NO_CHANGES));
      assertSameKey(await load(other, OLD), old);
      const { key, roles } = await load(other, NEW);
      assert.deepEqual([key.name, key.switchedOn, roles], ["new", false, []]);
    },
  },
  {
    title: "of many racers that rotate one key exactly one does, and the others find it changed",
    async check(stage) {
      const before = await withKeys(stage.store, aFullKey());
      const answers = await race(stage, 15, (store, number) =>
        store.rotateKey(WORKSPACE, OLD, 1, racerOf(before, number), NO_CHANGES),
      );
      assert.deepEqual(tally(answers), { rotated: 1, stale: 14 });
      const winner = racerOf(before, answers.indexOf("rotated")).successor;
      assert.deepEqual(await listedKeyIds(stage.other), [OLD, winner.id]);
      assert.equal(await totalOf(stage.other), 2);
      assert.equal((await load(stage.other, OLD)).key.rotatedTo, winner.id);
      for (let number = 0; number < 15; number += 1) {
        const { hash } = racerOf(before, number).successor;
        const found = await stage.store.findKey(hash, WORKSPACE);
        assert.equal(found !== null, hash === winner.hash);
      }
    },
  },
  {
    title: "a key rotated and deleted at once leaves a successor with its uses, or none",
    async check(stage) {
      const before = await withKeys(stage.store, aFullKey());
      const answers = await race(stage, 6, async (store, number) =>
        number < 3
          ? store.rotateKey(WORKSPACE, OLD, 1, racerOf(before, number), NO_CHANGES)
          : store.deleteKey(WORKSPACE, OLD, REMOVAL, NO_CHANGES),
      );
      assert.equal(await stage.other.getKey(WORKSPACE, OLD), null);
      const winner = answers.indexOf("rotated");
      const left = winner < 0 ? [] : [racerOf(before, winner).successor.id];
      assert.deepEqual(await listedKeyIds(stage.other), left);
      assert.equal(await totalOf(stage.store), left.length);
      for (const id of left) assert.equal(await usesLeft(stage.other, id), 9);
    },
  },
  {
    title: "a rotation to a hash that is taken writes nothing",
    async check({ store }) {
      const before = await withKeys(store, aFullKey());
      await insert(store, aNewKey(aKey(3)));
      const { key } = before;
      for (const hash of [hashOf(3), key.hash]) {
        const rotation = aRotation(before, 2, { hash });
        const answer = await store.rotateKey(WORKSPACE, OLD, key.version, rotation, NO_CHANGES);
        assert.equal(answer, "hash-taken");
      }
      assertSameKey(await load(store), before);
      assert.deepEqual(await listedKeyIds(store), [OLD, idOf("key", 3)]);
      assert.equal(await totalOf(store), 2);
    },
  },
  {
    title: "a rotation that expects another version is stale, and of a key that is gone not found",
    async check({ store }) {
      const before = await withKeys(store, aFullKey());
      const rotation = aRotation(before);
      for (const version of [before.key.version - 1, before.key.version + 1]) {
        const answer = await store.rotateKey(WORKSPACE, OLD, version, rotation, NO_CHANGES);
        assert.equal(answer, "stale");
      }
      assertSameKey(await load(store), before);
      const unknown = await store.rotateKey(WORKSPACE, "key_unknown", 1, rotation, NO_CHANGES);
      assert.equal(unknown, "not-found");
      await store.deleteKey(WORKSPACE, OLD, REMOVAL, NO_CHANGES);
      assert.equal(await store.rotateKey(WORKSPACE, OLD, 1, rotation, NO_CHANGES), "not-found");
      assert.deepEqual(await listedKeyIds(store), []);
    },
  },
  {
    title: "a rotation planned before the identity was deleted links the successor to none",
    async check({ store, other }) {
      const before = await withKeys(store, aFullKey());
      await other.deleteIdentity(WORKSPACE, idOf("id", 1), NO_CHANGES);
      const successor = await rotate(store, before, aRotation(before));
      assert.deepEqual([successor.identity, successor.identityUsage], [null, null]);
      assert.deepEqual(await listedKeyIds(other, idOf("id", 1)), []);
    },
  },
  {
    title: "a key rotated after the deletion of a grant passes on only what it still holds",
    async check({ store, other }) {
      const before = await withKeys(store, aFullKey());
      await other.deletePermission(WORKSPACE, idOf("perm", 1), NO_CHANGES);
      const successor = await rotate(store, before, aRotation(before));
      assert.deepEqual([successor.roles, successor.permissions], [["reader"], []]);
    },
  },
  {
    title: "a successor was not used yet, whenever the old key was",
    async check({ store, other }) {
      const before = await withKeys(store, aFullKey());
      const lastUsed = [{ keyId: OLD, usedAt: NOW }];
      await store.addVerifications(WORKSPACE, { counts: [], lastUsed });
      await rotate(store, before, aRotation(before));
      const loaded = [await load(other, OLD), await load(other, NEW)];
      assert.deepEqual(
        loaded.map(({ lastUsedAt }) => lastUsedAt),
        [NOW, null],
      );
    },
  },
];
