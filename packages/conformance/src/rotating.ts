import assert from "node:assert/strict";
import { type KeyStore, type LimitCharge, type LoadedKey, NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aKeyLimit,
  aNewKey,
  anIdentity,
  aPermission,
  aPlan,
  aRole,
  aRotation,
  aUsageChange,
  DAY_MS,
  hashOf,
  idOf,
  MINUTE_MS,
  NOW,
  orCreate,
  REMOVAL,
  takeAdHoc,
  takeFrom,
  WORKSPACE,
} from "./fixtures.js";
import { race, tally } from "./race.js";
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

const OLD = idOf("key", 1);
const NEW = idOf("key", 2);
const LIMIT = aKeyLimit("default", 7);

/** A key with everything that a successor is to have too, and this many uses. */
function aFullKey(remaining: number | null = 9) {
  const key = aKey(1, {
    name: "billing job",
    meta: { team: "billing" },
    expiresAt: NOW + DAY_MS,
    refill: { interval: "daily", amount: 9 },
    ratelimits: [LIMIT, { ...aKeyLimit("exports", 2), autoApply: true }],
    environment: "live",
  });
  return aNewKey(key, {
    usage: { remaining, refilledAt: NOW },
    identity: anIdentity(),
    grants: {
      roles: [orCreate(aRole("reader"))],
      permissions: [orCreate(aPermission("docs.read"))],
    },
  });
}

/** The old key and its successor, both as they are after the rotation. */
async function withRotated(store: KeyStore, remaining: number | null = 9) {
  const before = await withKeys(store, aFullKey(remaining));
  const successor = await rotate(store, before, aRotation(before));
  return { before, old: await load(store, OLD), successor };
}

/** What is left of limits, asked through a key without taking. */
async function unitsLeft(store: KeyStore, keyId: string, limits: readonly LimitCharge[]) {
  const looking = limits.map((limit) => ({ ...limit, cost: 0 }));
  const look = aPlan(await load(store, keyId), { mode: "look", cost: 0, limits: looking });
  const result = await store.charge(look);
  assert.ok("limits" in result);
  return result.limits.map(({ remaining }) => remaining);
}

async function totalOf(store: KeyStore): Promise<number> {
  const page = { afterId: null, limit: 1 };
  const { total } = await store.listKeys(WORKSPACE, idOf("api", 1), { identityId: null }, page);
  return total;
}

/** The rotation of a key with another hash than its number would give. */
function racerOf(loaded: LoadedKey, number: number) {
  return aRotation(loaded, 100 + number);
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
    title: "what the old key used is used for its successor, and the other way round",
    async check({ store, other }) {
      const before = await withKeys(store, aFullKey());
      const adHoc = takeAdHoc({ name: "burst", limit: 5, durationMs: MINUTE_MS });
      const limits = [takeFrom("key", LIMIT), adHoc];
      assert.equal((await store.charge(aPlan(before, { limits }))).kind, "charged");
      await rotate(store, before, aRotation(before));
      for (const [index, keyId] of [NEW, OLD, NEW].entries()) {
        assert.equal(await usesLeft(other, keyId), 8 - index);
        assert.deepEqual(await unitsLeft(other, keyId, limits), [6 - index, 4 - index]);
        const plan = aPlan(await load(other, keyId), { limits });
        assert.equal((await other.charge(plan)).kind, "charged");
      }
    },
  },
  {
    title: "of many parallel uses of both keys exactly as many are taken as are left",
    async check(stage) {
      const { old, successor } = await withRotated(stage.store);
      const results = await race(stage, 40, (store, number) =>
        store.charge(aPlan(number % 4 < 2 ? old : successor)),
      );
      const kinds = tally(results.map(({ kind }) => kind));
      assert.deepEqual(kinds, { charged: 9, "usage-exceeded": 31 });
      assert.deepEqual(
        [await usesLeft(stage.store, OLD), await usesLeft(stage.store, NEW)],
        [0, 0],
      );
    },
  },
  {
    title: "of many parallel charges of both keys exactly as many go through as a limit allows",
    async check(stage) {
      const { old, successor } = await withRotated(stage.store, null);
      const burst = takeAdHoc({ name: "burst", limit: 5, durationMs: MINUTE_MS });
      for (const [limit, admitted] of [
        [takeFrom("key", LIMIT), 7],
        [burst, 5],
      ] as const) {
        const results = await race(stage, 24, (store, number) =>
          store.charge(aPlan(number % 4 < 2 ? old : successor, { limits: [limit] })),
        );
        const kinds = tally(results.map(({ kind }) => kind));
        assert.deepEqual(kinds, { charged: admitted, "rate-limited": 24 - admitted });
      }
    },
  },
  {
    title: "a change of the uses of one key of a rotation is a change for both",
    async check({ store, other }) {
      await withRotated(store);
      const usage = aUsageChange({ kind: "increment", by: 5 });
      for (const [keyId, version, left] of [
        [OLD, 2, 14],
        [NEW, 1, 19],
      ] as const) {
        assertUpdated(await store.updateKey(WORKSPACE, keyId, version, { usage }, NO_CHANGES));
        assert.equal(await usesLeft(other, OLD), left);
        assert.equal(await usesLeft(other, NEW), left);
      }
    },
  },
  {
    title: "a refill that is owed to a rotated key is settled once for both",
    async check(stage) {
      const { old, successor } = await withRotated(stage.store, 0);
      const refill = { amount: 9, dueAt: NOW + DAY_MS };
      const results = await race(stage, 20, (store, number) =>
        store.charge(aPlan(number % 4 < 2 ? old : successor, { now: refill.dueAt, refill })),
      );
      const kinds = tally(results.map(({ kind }) => kind));
      assert.deepEqual(kinds, { charged: 9, "usage-exceeded": 11 });
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
  ...[OLD, NEW].map((keyId) => ({
    title: `deleting ${keyId === OLD ? "the old key" : "the successor"} leaves the other its counters`,
    async check({ store, other }: Parameters<StorePromise["check"]>[0]) {
      const { successor } = await withRotated(store);
      const rest = keyId === OLD ? NEW : OLD;
      const limits = [
        takeFrom("key", LIMIT, 2),
        takeAdHoc({ name: "burst", limit: 5, durationMs: MINUTE_MS }, 3),
      ];
      await store.charge(aPlan(successor, { cost: 4, limits }));
      await store.deleteKey(WORKSPACE, keyId, { deletedAt: NOW, permanent: true }, NO_CHANGES);
      assert.equal(await other.getKey(WORKSPACE, keyId), null);
      assert.equal(await usesLeft(other, rest), 5);
      assert.deepEqual(await unitsLeft(other, rest, limits), [5, 2]);
      assert.equal((await other.charge(aPlan(await load(other, rest)))).kind, "charged");
      assert.equal(await usesLeft(store, rest), 4);
    },
  })),
  {
    title: "keys deleted a few at a time leave those that share their counters what is left",
    async check({ store, other }) {
      await withRotated(store);
      const { deleted } = await store.deleteKeys(WORKSPACE, idOf("api", 1), 1, NOW, null);
      const rest = deleted[0] === OLD ? NEW : OLD;
      await other.charge(aPlan(await load(other, rest), { cost: 4 }));
      assert.equal(await usesLeft(store, rest), 5);
    },
  },
  {
    title: "the keys of a chain of rotations share one counter, also when the first is gone",
    async check(stage) {
      const { store } = stage;
      const { successor } = await withRotated(store);
      const third = await rotate(store, successor, aRotation(successor, 3));
      assert.deepEqual([third.key.rotatedFrom, third.key.countersId], [NEW, OLD]);
      assert.equal((await load(store, NEW)).key.rotatedTo, third.key.id);
      assert.equal((await store.charge(aPlan(third, { cost: 2 }))).kind, "charged");
      await store.deleteKey(WORKSPACE, OLD, REMOVAL, NO_CHANGES);
      const second = await load(stage.other, NEW);
      const results = await race(stage, 20, (handle, number) =>
        handle.charge(aPlan(number % 4 < 2 ? second : third)),
      );
      const kinds = tally(results.map(({ kind }) => kind));
      assert.deepEqual(kinds, { charged: 7, "usage-exceeded": 13 });
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
    title: "charges that race with a rotation lose no use and take none twice",
    async check(stage) {
      const before = await withKeys(stage.store, aFullKey(100));
      const taken = await race(stage, 30, async (store, number) => {
        if (number === 5) {
          await rotate(store, before, aRotation(before));
          return 0;
        }
        for (;;) {
          const { kind } = await store.charge(aPlan(await load(store, OLD), { cost: 2 }));
          if (kind === "charged") return 2;
          assert.equal(kind, "stale");
        }
      });
      const spent = taken.reduce<number>((sum, cost) => sum + cost, 0);
      assert.equal(await usesLeft(stage.other, NEW), 100 - spent);
    },
  },
  {
    title:
      "charges that race with the deletion of a key that shares their counter take every use once",
    async check(stage) {
      const { successor } = await withRotated(stage.store, 100);
      const taken = await race(stage, 30, async (store, number) => {
        if (number === 9) {
          await store.deleteKey(WORKSPACE, OLD, REMOVAL, NO_CHANGES);
          return 0;
        }
        assert.equal((await store.charge(aPlan(successor, { cost: 2 }))).kind, "charged");
        return 2;
      });
      const spent = taken.reduce<number>((sum, cost) => sum + cost, 0);
      assert.equal(await usesLeft(stage.other, NEW), 100 - spent);
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
