import assert from "node:assert/strict";
import { type KeyPatch, type KeyRecord, type KeyStore, NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aKeyLimit,
  aKeyWithUses,
  aNewKey,
  aPlan,
  DAY_MS,
  idOf,
  NOW,
  REMOVAL,
  WORKSPACE,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { assertSameKey, assertUpdated, load, usesLeft, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const KEY_ID = idOf("key", 1);

const FIELDS = {
  name: "renamed",
  meta: { team: "new" },
  expiresAt: NOW + DAY_MS,
  switchedOn: false,
  refill: { interval: "monthly", amount: 3, refillDay: 15 },
  ratelimits: [aKeyLimit("default", 3)],
  environment: "test",
  usesFrom: "identity",
  sealedSecret: "v1.c2VhbGVk",
} as const satisfies Partial<KeyRecord>;

/** Adds one member to the metadata, as often as it takes: what an operation does that lost a race. */
async function addMember(store: KeyStore, member: string): Promise<void> {
  for (;;) {
    const { key } = await load(store);
    const patch: KeyPatch = { meta: { ...key.meta, [member]: true } };
    const { kind } = await store.updateKey(WORKSPACE, KEY_ID, key.version, patch, NO_CHANGES);
    if (kind === "updated") return;
    assert.equal(kind, "stale");
  }
}

export const guardedUpdatePromises: readonly StorePromise[] = [
  {
    title: "an update sets the fields it gives, leaves all others and raises the version by one",
    async check({ store, other }) {
      let { key } = await withKeys(store, aNewKey());
      for (const [field, value] of Object.entries(FIELDS)) {
        assertUpdated(
          await store.updateKey(WORKSPACE, KEY_ID, key.version, { [field]: value }, NO_CHANGES),
        );
        key = { ...key, [field]: value, version: key.version + 1 };
        assert.deepEqual((await load(other)).key, key);
      }
    },
  },
  {
    title: "a field updated to null is null",
    async check({ store }) {
      await withKeys(store, aNewKey(aKey(1, FIELDS)));
      const nothing = {
        name: null,
        meta: null,
        expiresAt: null,
        refill: null,
        environment: null,
        sealedSecret: null,
      };
      assertUpdated(
        await store.updateKey(WORKSPACE, KEY_ID, 1, { ...nothing, ratelimits: [] }, NO_CHANGES),
      );
      const { key } = await load(store);
      assert.deepEqual(key, aKey(1, { switchedOn: false, usesFrom: "identity", version: 2 }));
    },
  },
  {
    title: "the version stays when an update gives nothing but uses and the instant of the update",
    async check({ store }) {
      await withKeys(store, aKeyWithUses(5));
      const operation = { kind: "set", remaining: 8 } as const;
      const usage = { due: null, operation, settledAt: NOW };
      assertUpdated(
        await store.updateKey(WORKSPACE, KEY_ID, 1, { usage, updatedAt: NOW + 1 }, NO_CHANGES),
      );
      const loaded = await load(store);
      assert.deepEqual(loaded.key, aKey(1, { updatedAt: NOW + 1 }));
      assert.equal(loaded.usage.remaining, 8);
    },
  },
  {
    title: "an update that expects another version is stale and writes nothing",
    async check({ store }) {
      const loaded = await withKeys(store, aKeyWithUses(5, 1, { version: 4 }));
      const usage = {
        due: null,
        operation: { kind: "set", remaining: 9 },
        settledAt: NOW,
      } as const;
      for (const version of [3, 5]) {
        const result = await store.updateKey(
          WORKSPACE,
          KEY_ID,
          version,
          { ...FIELDS, usage },
          NO_CHANGES,
        );
        assert.deepEqual(result, { kind: "stale" });
        const onlyUsage = await store.updateKey(WORKSPACE, KEY_ID, version, { usage }, NO_CHANGES);
        assert.deepEqual(onlyUsage, { kind: "stale" });
      }
      assertSameKey(await load(store), loaded);
    },
  },
  {
    title: "of many racers that expect one version exactly one wins",
    async check(stage) {
      await withKeys(stage.store, aNewKey());
      const results = await race(stage, 20, (store, number) =>
        store.updateKey(WORKSPACE, KEY_ID, 1, { name: `racer ${number}` }, NO_CHANGES),
      );
      assert.deepEqual(tally(results.map(({ kind }) => kind)), { updated: 1, stale: 19 });
      const { key } = await load(stage.store);
      assert.equal(key.version, 2);
      assert.equal(results[Number(key.name?.slice("racer ".length))]?.kind, "updated");
    },
  },
  {
    title: "racers that try again when they are stale lose nothing",
    async check(stage) {
      await withKeys(stage.store, aNewKey());
      const members = Array.from({ length: 12 }, (_, number) => `racer-${number}`);
      await race(stage, members.length, (store, number) =>
        addMember(store, members[number] as string),
      );
      const { key } = await load(stage.store);
      assert.deepEqual(Object.keys(key.meta ?? {}).sort(), members.sort());
      assert.equal(key.version, 13);
    },
  },
  {
    title: "updates that race with charges lose neither a field nor a use",
    async check(stage) {
      await withKeys(stage.store, aKeyWithUses(100));
      const charged = await race(stage, 30, async (store, number) => {
        if (number % 3 === 0) return addMember(store, `racer-${number}`).then(() => 0);
        for (;;) {
          const { kind } = await store.charge(aPlan(await load(store), { cost: 2 }));
          if (kind === "charged") return 2;
          assert.equal(kind, "stale");
        }
      });
      const { key, usage } = await load(stage.store);
      assert.equal(Object.keys(key.meta ?? {}).length, 10);
      assert.equal(usage.remaining, 100 - charged.reduce((sum, cost) => sum + cost, 0));
    },
  },
  {
    title: "an update of a key that does not exist or was deleted finds nothing",
    async check({ store }) {
      await withKeys(store, aNewKey());
      const patch = { name: "ghost" };
      assert.deepEqual(await store.updateKey(WORKSPACE, idOf("key", 2), 1, patch, NO_CHANGES), {
        kind: "not-found",
      });
      await store.deleteKey(WORKSPACE, KEY_ID, REMOVAL, NO_CHANGES);
      assert.deepEqual(await store.updateKey(WORKSPACE, KEY_ID, 1, patch, NO_CHANGES), {
        kind: "not-found",
      });
      assert.equal(await usesLeft(store).catch(() => "not found"), "not found");
    },
  },
];
