import assert from "node:assert/strict";
import { type KeyStore, NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aKeyWithUses,
  aNewKey,
  anIdentity,
  aPermission,
  aPlan,
  aRotation,
  hashOf,
  idOf,
  loadedIdentity,
  NOW,
  orCreate,
  REMOVAL,
  WORKSPACE,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { assertSameKey, assertUpdated, insert, listedKeyIds, withKeys } from "./scene.js";
import type { Stage, StorePromise } from "./store-promise.js";

const KEY_ID = idOf("key", 1);

/** Every change that must reach each verification that starts later. */
const CHANGES: readonly {
  readonly what: string;
  readonly make: (store: KeyStore) => Promise<unknown>;
}[] = [
  {
    what: "a key switched off",
    make: (store) => store.updateKey(WORKSPACE, KEY_ID, 1, { switchedOn: false }, NO_CHANGES),
  },
  {
    what: "a key's permissions taken away",
    make: (store) =>
      store.updateKey(WORKSPACE, KEY_ID, 1, { grants: { permissions: [] } }, NO_CHANGES),
  },
  {
    what: "a deleted key",
    make: (store) => store.deleteKey(WORKSPACE, KEY_ID, REMOVAL, NO_CHANGES),
  },
  {
    what: "an updated identity",
    make: (store) => store.updateIdentity(WORKSPACE, idOf("id", 1), 1, { meta: {} }, NO_CHANGES),
  },
  {
    what: "a rotated key",
    make: (store) => store.rotateKey(WORKSPACE, KEY_ID, 1, aRotation({ key: aKey() }), NO_CHANGES),
  },
  {
    what: "a deleted identity",
    make: (store) => store.deleteIdentity(WORKSPACE, idOf("id", 1), NO_CHANGES),
  },
  {
    what: "a deleted permission",
    make: (store) => store.deletePermission(WORKSPACE, idOf("perm", 1), NO_CHANGES),
  },
  {
    what: "a restricted API",
    make: (store) =>
      store.updateApi(WORKSPACE, idOf("api", 1), 1, { ipWhitelist: ["::1/128"] }, NO_CHANGES),
  },
  {
    what: "a disabled workspace",
    make: (store) => store.setWorkspaceEnabled(WORKSPACE, false, NO_CHANGES),
  },
];

export const revocationPromises: readonly StorePromise[] = [
  {
    title: "a deleted key is found, listed, counted and charged no more, from any process",
    async check({ store, other }) {
      const loaded = await withKeys(store, aKeyWithUses(5), aKeyWithUses(5, 2));
      assert.notEqual(await other.findKey(hashOf(1), WORKSPACE), null);
      assert.equal(await store.deleteKey(WORKSPACE, KEY_ID, REMOVAL, NO_CHANGES), "deleted");
      for (const handle of [other, store]) {
        assert.equal(await handle.findKey(hashOf(1), WORKSPACE), null);
        assert.equal(await handle.getKey(WORKSPACE, KEY_ID), null);
        assert.deepEqual(await listedKeyIds(handle), [idOf("key", 2)]);
        assert.deepEqual(await handle.charge(aPlan(loaded)), { kind: "stale" });
        assert.deepEqual(await handle.charge(aPlan(loaded, { mode: "look" })), { kind: "stale" });
        assert.equal(await handle.deleteKey(WORKSPACE, KEY_ID, REMOVAL, NO_CHANGES), "not-found");
      }
    },
  },
  ...[false, true].map((permanent) => ({
    title: `a key deleted ${permanent ? "for good" : "with its record kept"} frees its hash and comes back to nobody`,
    async check({ store, other }: Stage) {
      const loaded = await withKeys(store, aKeyWithUses(5, 1, { sealedSecret: "v1.c2VhbGVk" }));
      const removal = { deletedAt: NOW, permanent };
      assert.equal(await store.deleteKey(WORKSPACE, KEY_ID, removal, NO_CHANGES), "deleted");
      const again = { deletedAt: NOW + 1, permanent: true };
      assert.equal(await other.deleteKey(WORKSPACE, KEY_ID, again, NO_CHANGES), "not-found");
      const patch = { switchedOn: true };
      const updated = await other.updateKey(WORKSPACE, KEY_ID, 1, patch, NO_CHANGES);
      assert.deepEqual(updated, { kind: "not-found" });
      const rotation = aRotation(loaded);
      const rotated = await other.rotateKey(WORKSPACE, KEY_ID, 1, rotation, NO_CHANGES);
      assert.equal(rotated, "not-found");
      assert.deepEqual(await other.charge(aPlan(loaded)), { kind: "stale" });
      await insert(other, aKeyWithUses(3, 2, { hash: hashOf(1) }));
      const found = await store.findKey(hashOf(1), WORKSPACE);
      assert.deepEqual([found?.key.id, found?.usage.remaining], [idOf("key", 2), 3]);
      assert.deepEqual(await listedKeyIds(store), [idOf("key", 2)]);
    },
  })),
  ...CHANGES.map(({ what, make }) => ({
    title: `${what} is seen at once: no charge on what was read before goes through`,
    async check({ store, other }: Stage) {
      const grants = { permissions: [orCreate(aPermission("docs.read"))] };
      const newKey = aNewKey(aKey(), { identity: anIdentity(), grants });
      const loaded = await withKeys(store, newKey);
      for (const handle of [other, store]) {
        assertSameKey(await handle.findKey(hashOf(1), WORKSPACE), loaded);
        assert.equal((await handle.charge(aPlan(loaded))).kind, "charged");
      }
      await make(store);
      for (const handle of [other, store]) {
        assert.deepEqual(await handle.charge(aPlan(loaded)), { kind: "stale" });
        const found = await handle.findKey(hashOf(1), WORKSPACE);
        assert.throws(() => assertSameKey(found, loaded), `${what} is not seen`);
      }
    },
  })),
  {
    title:
      "no charge that starts after a key was switched off goes through, whoever else is charging",
    async check(stage) {
      const loaded = await withKeys(stage.store, aNewKey());
      let isOff = false;
      const answers = await race(stage, 30, async (store, number) => {
        if (number === 7) {
          assertUpdated(
            await store.updateKey(WORKSPACE, KEY_ID, 1, { switchedOn: false }, NO_CHANGES),
          );
          isOff = true;
          return "switched off";
        }
        let late = 0;
        for (let attempt = 0; attempt < 10; attempt += 1) {
          const isLate = isOff;
          const { kind } = await store.charge(aPlan(loaded));
          if (isLate && kind !== "stale") late += 1;
        }
        return late === 0 ? "in time" : "late";
      });
      assert.deepEqual(tally(answers), { "in time": 29, "switched off": 1 });
    },
  },
  {
    title: "of many racers that delete one key exactly one deletes it",
    async check(stage) {
      await withKeys(stage.store, aNewKey());
      const answers = await race(stage, 12, (store) =>
        store.deleteKey(WORKSPACE, KEY_ID, REMOVAL, NO_CHANGES),
      );
      assert.deepEqual(tally(answers), { deleted: 1, "not-found": 11 });
      const page = { afterId: null, limit: 1 };
      const { total } = await stage.other.listKeys(
        WORKSPACE,
        idOf("api", 1),
        { identityId: null },
        page,
      );
      assert.equal(total, 0);
    },
  },
  {
    title: "a key that is deleted and updated at once stays deleted",
    async check(stage) {
      await withKeys(stage.store, aNewKey());
      await race(stage, 10, async (store, number) => {
        if (number === 5) await store.deleteKey(WORKSPACE, KEY_ID, REMOVAL, NO_CHANGES);
        else await store.updateKey(WORKSPACE, KEY_ID, 1, { name: `racer ${number}` }, NO_CHANGES);
      });
      assert.equal(await stage.other.getKey(WORKSPACE, KEY_ID), null);
      assert.deepEqual(await listedKeyIds(stage.store), []);
    },
  },
  {
    title: "deleting a key leaves its identity and the identity's other keys",
    async check({ store, other }) {
      await withKeys(store, aNewKey(aKey(1), { identity: anIdentity() }));
      await insert(store, aNewKey(aKey(2), { identity: anIdentity() }));
      await store.deleteKey(WORKSPACE, KEY_ID, REMOVAL, NO_CHANGES);
      assert.deepEqual(
        await other.getIdentity(WORKSPACE, { externalId: "user-1" }),
        loadedIdentity(),
      );
      assert.deepEqual(await listedKeyIds(other, idOf("id", 1)), [idOf("key", 2)]);
    },
  },
];
