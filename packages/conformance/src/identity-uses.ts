import assert from "node:assert/strict";
import { type IdentityPatch, type KeyStore, NO_CHANGES, type Usage } from "@latchkey/core";
import {
  aKey,
  aKeyLimit,
  aNewKey,
  anApi,
  anIdentity,
  aPlan,
  aRotation,
  aSharedLimit,
  aUsageChange,
  DAY_MS,
  idOf,
  loadedIdentity,
  NOW,
  takeFrom,
  UNLIMITED,
  WORKSPACE,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { assertSameKey, insert, load, rotate, usesLeft } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const IDENTITY_ID = idOf("id", 1);
const DUE = { amount: 10, dueAt: NOW + DAY_MS };

/** Keys 1 to `count` of one identity, drawing from its uses; each has 5 of its own. */
async function withShared(store: KeyStore, usage: Usage, count = 3) {
  await store.insertIdentity(anIdentity(), usage, NO_CHANGES);
  await store.insertApi(anApi(), NO_CHANGES);
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  for (const number of numbers) {
    const key = aKey(number, { usesFrom: "identity", identityId: IDENTITY_ID });
    await insert(store, aNewKey(key, { usage: { remaining: 5, refilledAt: NOW } }));
  }
  return Promise.all(numbers.map((number) => load(store, idOf("key", number))));
}

function uses(remaining: number | null): Usage {
  return { remaining, refilledAt: NOW };
}

/** Uses left to the keys of the identity. */
async function sharedLeft(store: KeyStore): Promise<number | null | undefined> {
  const found = await store.getIdentity(WORKSPACE, { identityId: IDENTITY_ID });
  return found?.usage.remaining;
}

function update(store: KeyStore, version: number, patch: IdentityPatch) {
  return store.updateIdentity(WORKSPACE, IDENTITY_ID, version, patch, NO_CHANGES);
}

export const identityUsePromises: readonly StorePromise[] = [
  {
    title: "an identity is read with the uses that it was written with, and by its keys too",
    async check({ store, other }) {
      const [loaded] = await withShared(store, uses(12));
      const expected = loadedIdentity(anIdentity(), uses(12));
      const page = { afterId: null, limit: 10 };
      assert.deepEqual(await other.getIdentity(WORKSPACE, { externalId: "user-1" }), expected);
      assert.deepEqual((await other.listIdentities(WORKSPACE, page)).items, [expected]);
      assert.deepEqual(loaded?.identityUsage, uses(12));
      assert.deepEqual(loaded?.usage, uses(5));
    },
  },
  {
    title: "a key that draws from its identity takes the identity's uses and none of its own",
    async check({ store, other }) {
      const [first, second] = await withShared(store, uses(10));
      assert.ok(first !== undefined && second !== undefined);
      const charged = await store.charge(aPlan(first, { cost: 3 }));
      assert.deepEqual(charged, { kind: "charged", remaining: 7, limits: [] });
      const refused = await other.charge(aPlan(second, { cost: 8 }));
      assert.deepEqual(refused, { kind: "usage-exceeded", remaining: 7, limits: [] });
      assert.equal(await sharedLeft(other), 7);
      assert.equal(await usesLeft(other, first.key.id), 5);
      assert.deepEqual((await load(other, second.key.id)).identityUsage, uses(7));
    },
  },
  {
    title: "a key that draws from its own uses takes none of its identity's",
    async check({ store, other }) {
      const [shared] = await withShared(store, uses(10), 1);
      const own = aKey(2, { identityId: IDENTITY_ID });
      await insert(store, aNewKey(own, { usage: uses(5) }));
      await store.charge(aPlan(await load(store, own.id), { cost: 2 }));
      assert.deepEqual([await usesLeft(other, own.id), await sharedLeft(other)], [3, 10]);
      assert.ok(shared !== undefined);
      await store.charge(aPlan(shared));
      assert.deepEqual([await usesLeft(other, own.id), await sharedLeft(other)], [3, 9]);
    },
  },
  {
    title: "of many parallel uses of all keys of an identity exactly as many are taken as are left",
    async check(stage) {
      const keys = await withShared(stage.store, uses(7));
      const results = await race(stage, 36, (store, number) =>
        store.charge(aPlan(keys[(number >> 1) % 3] as (typeof keys)[number])),
      );
      const kinds = tally(results.map(({ kind }) => kind));
      assert.deepEqual(kinds, { charged: 7, "usage-exceeded": 29 });
      const left = results.flatMap((result) =>
        result.kind === "charged" ? [result.remaining ?? -1] : [],
      );
      assert.deepEqual(left.sort(), [0, 1, 2, 3, 4, 5, 6]);
      assert.equal(await sharedLeft(stage.other), 0);
    },
  },
  {
    title: "a limit that refuses leaves the uses of the identity untouched",
    async check({ store }) {
      await withShared(store, uses(7), 1);
      const limit = aKeyLimit("default", 1);
      const patch = { ratelimits: [limit] };
      await store.updateKey(WORKSPACE, idOf("key", 1), 1, patch, NO_CHANGES);
      const limits = [takeFrom("key", limit)];
      for (const kind of ["charged", "rate-limited"]) {
        assert.equal((await store.charge(aPlan(await load(store), { limits }))).kind, kind);
      }
      assert.equal(await sharedLeft(store), 6);
    },
  },
  {
    title: "parallel charges over shared uses and limits of both owners take all of them or none",
    async check(stage) {
      await withShared(stage.store, uses(50), 2);
      const [own, shared] = [aKeyLimit("own", 6), aSharedLimit("shared", 9)];
      await update(stage.store, 1, { ratelimits: [shared] });
      for (const number of [1, 2]) {
        const call = [WORKSPACE, idOf("key", number), 1, { ratelimits: [own] }] as const;
        await stage.store.updateKey(...call, NO_CHANGES);
      }
      const keys = await Promise.all(
        [1, 2].map((number) => load(stage.other, idOf("key", number))),
      );
      const limits = [takeFrom("key", own), takeFrom("identity", shared)];
      const results = await race(stage, 30, (store, number) =>
        store.charge(aPlan(keys[(number >> 1) % 2] as (typeof keys)[number], { cost: 2, limits })),
      );
      const kinds = tally(results.map(({ kind }) => kind));
      assert.deepEqual(kinds, { charged: 9, "rate-limited": 21 });
      assert.equal(await sharedLeft(stage.store), 50 - 2 * 9);
      const looks = await Promise.all(
        keys.map((loaded) =>
          stage.other.charge(
            aPlan(loaded, { mode: "look", limits: limits.map((limit) => ({ ...limit, cost: 0 })) }),
          ),
        ),
      );
      const left = looks.map((look) => ("limits" in look ? look.limits[0]?.remaining : undefined));
      assert.equal((left[0] ?? 0) + (left[1] ?? 0), 2 * 6 - 9);
    },
  },
  {
    title: "keys of an identity without a number of uses draw from it for ever",
    async check({ store }) {
      const [loaded] = await withShared(store, UNLIMITED, 1);
      assert.ok(loaded !== undefined);
      const result = await store.charge(aPlan(loaded, { cost: Number.MAX_SAFE_INTEGER }));
      assert.deepEqual(result, { kind: "charged", remaining: null, limits: [] });
    },
  },
  {
    title: "an identity made on demand has no number of uses, and a key may draw from it",
    async check({ store, other }) {
      await store.insertApi(anApi(), NO_CHANGES);
      const key = aKey(1, { usesFrom: "identity" });
      await insert(store, aNewKey(key, { identity: anIdentity() }));
      assert.deepEqual((await load(other)).identityUsage, UNLIMITED);
      assert.equal((await other.charge(aPlan(await load(other)))).kind, "charged");
    },
  },
  {
    title: "a key that draws from an identity and has none has no uses",
    async check({ store }) {
      await store.insertApi(anApi(), NO_CHANGES);
      const usage = uses(5);
      await insert(store, aNewKey(aKey(1, { usesFrom: "identity" }), { usage }));
      const loaded = await load(store);
      for (const cost of [0, 1]) {
        const result = await store.charge(aPlan(loaded, { cost }));
        assert.equal(result.kind, "usage-exceeded");
      }
      assert.equal(loaded.identityUsage, null);
      assertSameKey(await load(store), loaded);
    },
  },
  {
    title: "a refill that is owed to an identity is settled once, whichever keys find it at once",
    async check(stage) {
      const keys = await withShared(stage.store, uses(3));
      const results = await race(stage, 30, (store, number) => {
        const loaded = keys[(number >> 1) % 3] as (typeof keys)[number];
        return store.charge(aPlan(loaded, { now: DUE.dueAt, refill: DUE }));
      });
      const kinds = tally(results.map(({ kind }) => kind));
      assert.deepEqual(kinds, { charged: 10, "usage-exceeded": 20 });
      const found = await stage.other.getIdentity(WORKSPACE, { identityId: IDENTITY_ID });
      assert.deepEqual(found?.usage, { remaining: 0, refilledAt: DUE.dueAt });
      assert.deepEqual((await load(stage.other)).usage, uses(5));
    },
  },
  {
    title: "a refused charge shows the refill that is owed to the identity and does not settle it",
    async check({ store }) {
      const [loaded] = await withShared(store, uses(2));
      assert.ok(loaded !== undefined);
      const plan = aPlan(loaded, { now: DUE.dueAt, refill: DUE, cost: 11 });
      assert.deepEqual(await store.charge(plan), {
        kind: "usage-exceeded",
        remaining: 10,
        limits: [],
      });
      assert.equal(await sharedLeft(store), 2);
    },
  },
  {
    title: "a look at the uses of an identity answers as a charge would and writes nothing",
    async check({ store }) {
      const [loaded] = await withShared(store, uses(4));
      assert.ok(loaded !== undefined);
      const result = await store.charge(aPlan(loaded, { mode: "look", cost: 4 }));
      assert.equal(result.kind, "charged");
      assert.equal(await sharedLeft(store), 4);
    },
  },
  {
    title: "uses of an identity can be set, added and taken away, and the version stays",
    async check({ store, other }) {
      await withShared(store, uses(5));
      for (const [operation, remaining] of [
        [{ kind: "set", remaining: 10 }, 10],
        [{ kind: "increment", by: 7 }, 17],
        [{ kind: "decrement", by: 17 }, 0],
        [{ kind: "keep" }, 0],
        [{ kind: "set", remaining: null }, null],
        [{ kind: "set", remaining: 3 }, 3],
      ] as const) {
        const usage = aUsageChange(operation);
        assert.deepEqual(await update(store, 1, { usage }), {
          kind: "updated",
          usage: uses(remaining),
        });
        const found = await other.getIdentity(WORKSPACE, { identityId: IDENTITY_ID });
        assert.deepEqual(found, loadedIdentity(anIdentity(), uses(remaining)));
      }
    },
  },
  {
    title: "uses and settings of an identity change together, or neither where the uses refuse",
    async check({ store, other }) {
      await withShared(store, uses(5));
      const refill = { interval: "daily", amount: 10 } as const;
      const usage = aUsageChange({ kind: "decrement", by: 6 });
      assert.deepEqual(await update(store, 1, { refill, usage }), {
        kind: "usage-refused",
        reason: { kind: "insufficient", remaining: 5 },
      });
      const lookup = { identityId: IDENTITY_ID };
      const before = loadedIdentity(anIdentity(), uses(5));
      assert.deepEqual(await other.getIdentity(WORKSPACE, lookup), before);
      const enough = aUsageChange({ kind: "decrement", by: 5 });
      const updated = await update(store, 1, { refill, usage: enough });
      assert.deepEqual(updated, { kind: "updated", usage: uses(0) });
      const after = loadedIdentity(anIdentity(1, { refill, version: 2 }), uses(0));
      assert.deepEqual(await other.getIdentity(WORKSPACE, lookup), after);
    },
  },
  {
    title: "a change of the uses of an identity settles the refill that is owed first",
    async check({ store, other }) {
      await withShared(store, uses(2));
      const usage = aUsageChange(
        { kind: "decrement", by: 4 },
        { due: DUE, settledAt: DUE.dueAt + 5 },
      );
      const after = { remaining: 6, refilledAt: DUE.dueAt + 5 };
      assert.deepEqual(await update(store, 1, { usage }), { kind: "updated", usage: after });
      assert.deepEqual((await load(other)).identityUsage, after);
    },
  },
  {
    title: "a change of the uses of an identity that expects another version writes nothing",
    async check({ store }) {
      await withShared(store, uses(5));
      const usage = aUsageChange({ kind: "set", remaining: 9 });
      for (const version of [0, 2]) {
        assert.deepEqual(await update(store, version, { usage }), { kind: "stale" });
      }
      assert.equal(await sharedLeft(store), 5);
    },
  },
  {
    title: "uses of an identity added while its keys take them all count",
    async check(stage) {
      const keys = await withShared(stage.store, uses(10));
      const usage = aUsageChange({ kind: "increment", by: 1 });
      const taken = await race(stage, 40, async (store, number) => {
        if (number % 4 === 0) {
          assert.equal((await update(store, 1, { usage })).kind, "updated");
          return 0;
        }
        const loaded = keys[number % 3] as (typeof keys)[number];
        return (await store.charge(aPlan(loaded))).kind === "charged" ? 1 : 0;
      });
      const spent = taken.reduce<number>((sum, cost) => sum + cost, 0);
      assert.equal(await sharedLeft(stage.other), 10 + 10 - spent);
    },
  },
  {
    title: "a key can be made to draw from its identity and from its own uses again",
    async check({ store, other }) {
      await withShared(store, uses(10), 1);
      for (const [version, usesFrom, own, shared] of [
        [1, "key", 4, 10],
        [2, "identity", 4, 9],
      ] as const) {
        await store.updateKey(WORKSPACE, idOf("key", 1), version, { usesFrom }, NO_CHANGES);
        const loaded = await load(other);
        assert.equal(loaded.key.usesFrom, usesFrom);
        assert.equal((await other.charge(aPlan(loaded))).kind, "charged");
        assert.deepEqual([await usesLeft(store), await sharedLeft(store)], [own, shared]);
      }
    },
  },
  {
    title: "the successor of a key that draws from its identity draws from it too",
    async check({ store, other }) {
      const [before] = await withShared(store, uses(10), 1);
      assert.ok(before !== undefined);
      const successor = await rotate(store, before, aRotation(before));
      await store.charge(aPlan(successor, { cost: 2 }));
      await other.charge(aPlan(await load(other), { cost: 3 }));
      assert.equal(await sharedLeft(store), 5);
      assert.equal(await usesLeft(store, successor.key.id), 5);
    },
  },
];
