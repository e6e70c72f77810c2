import assert from "node:assert/strict";
import { NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aNewKey,
  aPlan,
  aRootKey,
  hashOf,
  NOW,
  OTHER_WORKSPACE,
  REMOVAL,
  WORKSPACE,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { load, readAll, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

export const workspacePromises: readonly StorePromise[] = [
  {
    title: "a workspace that nothing was written about is enabled, at epoch 0",
    async check({ store }) {
      const untouched = { id: OTHER_WORKSPACE, name: null, enabled: true, epoch: 0 };
      assert.deepEqual(await store.getWorkspace(OTHER_WORKSPACE), untouched);
    },
  },
  {
    title:
      "a workspace is switched off and on, each time at a higher epoch, and shows so in its keys",
    async check({ store, other }) {
      await withKeys(store, aNewKey());
      let { epoch } = await store.getWorkspace(WORKSPACE);
      for (const enabled of [false, false, true]) {
        await store.setWorkspaceEnabled(WORKSPACE, enabled, NO_CHANGES);
        const workspace = await other.getWorkspace(WORKSPACE);
        assert.equal(workspace.enabled, enabled);
        assert.ok(workspace.epoch > epoch, "the epoch did not rise");
        assert.deepEqual((await load(other)).workspace, workspace);
        epoch = workspace.epoch;
      }
    },
  },
  {
    title: "parallel changes of a workspace all raise its epoch",
    async check(stage) {
      const { epoch } = await stage.store.getWorkspace(WORKSPACE);
      await race(stage, 10, (store, number) =>
        store.setWorkspaceEnabled(WORKSPACE, number % 2 === 0, NO_CHANGES),
      );
      assert.ok((await stage.other.getWorkspace(WORKSPACE)).epoch >= epoch + 10);
    },
  },
  {
    title: "a workspace is written once, and read as it was written",
    async check({ store, other }) {
      const workspace = { id: WORKSPACE, name: "日本語 'ACME' \\", enabled: false, epoch: 0 };
      assert.equal(await store.insertWorkspace(workspace, NO_CHANGES), "inserted");
      const written = await other.getWorkspace(WORKSPACE);
      assert.deepEqual({ ...written, epoch: 0 }, workspace);
      const again = { ...workspace, name: "again", enabled: true };
      assert.equal(await other.insertWorkspace(again, NO_CHANGES), "taken");
      assert.deepEqual(await store.getWorkspace(WORKSPACE), written);
    },
  },
  {
    title: "a workspace that is switched keeps its name, and shows it in its keys",
    async check({ store, other }) {
      const workspace = { id: WORKSPACE, name: "ACME", enabled: true, epoch: 0 };
      await store.insertWorkspace(workspace, NO_CHANGES);
      await withKeys(store, aNewKey());
      await store.setWorkspaceEnabled(WORKSPACE, false, NO_CHANGES);
      const switched = (await load(other)).workspace;
      assert.deepEqual([switched.name, switched.enabled], ["ACME", false]);
    },
  },
  {
    title: "a workspace that was switched before it was written is taken",
    async check({ store, other }) {
      await store.setWorkspaceEnabled(WORKSPACE, false, NO_CHANGES);
      const workspace = { id: WORKSPACE, name: "late", enabled: true, epoch: 0 };
      assert.equal(await other.insertWorkspace(workspace, NO_CHANGES), "taken");
      const { name, enabled } = await other.getWorkspace(WORKSPACE);
      assert.deepEqual([name, enabled], [null, false]);
    },
  },
  {
    title: "writing a workspace that things were done in before takes its epoch no step back",
    async check({ store, other }) {
      const loaded = await withKeys(store, aNewKey());
      await store.updateApi(WORKSPACE, loaded.api.id, 1, { name: "new" }, NO_CHANGES);
      const { epoch } = await store.getWorkspace(WORKSPACE);
      const workspace = { id: WORKSPACE, name: "ACME", enabled: true, epoch: 0 };
      assert.equal(await store.insertWorkspace(workspace, NO_CHANGES), "inserted");
      assert.ok((await other.getWorkspace(WORKSPACE)).epoch >= epoch, "the epoch fell");
      assert.deepEqual(await other.charge(aPlan(loaded)), { kind: "stale" });
    },
  },
  {
    title: "a key loaded before its workspace was written as switched off is not charged",
    async check({ store, other }) {
      const loaded = await withKeys(store, aNewKey());
      const workspace = { id: WORKSPACE, name: "ACME", enabled: false, epoch: 0 };
      assert.equal(await store.insertWorkspace(workspace, NO_CHANGES), "inserted");
      assert.deepEqual(await other.charge(aPlan(loaded)), { kind: "stale" });
    },
  },
  {
    title: "of many racers that write one workspace exactly one does",
    async check(stage) {
      const answers = await race(stage, 12, (store, number) => {
        const name = `racer ${number}`;
        const workspace = { id: WORKSPACE, name, enabled: true, epoch: 0 };
        return store.insertWorkspace(workspace, NO_CHANGES);
      });
      assert.deepEqual(tally(answers), { inserted: 1, taken: 11 });
      const { name } = await stage.other.getWorkspace(WORKSPACE);
      assert.equal(name, `racer ${answers.indexOf("inserted")}`);
    },
  },
  {
    title: "uses, keys and updates of keys leave the epoch as it is",
    async check({ store }) {
      await withKeys(store, aNewKey());
      const before = await store.getWorkspace(WORKSPACE);
      await store.insertKeys([aNewKey(aKey(2))], NO_CHANGES);
      await store.updateKey(WORKSPACE, aKey().id, 1, { name: "new" }, NO_CHANGES);
      await store.deleteKey(WORKSPACE, aKey().id, REMOVAL, NO_CHANGES);
      assert.deepEqual(await store.getWorkspace(WORKSPACE), before);
    },
  },
];

export const rootKeyPromises: readonly StorePromise[] = [
  {
    title: "a root key is found by its hash as it was written, with its workspace",
    async check({ store, other }) {
      const permissions = ["api.*.create_key", "api.*.read_key"];
      const rootKey = aRootKey(1, {
        name: "ops",
        permissions,
        expiresAt: NOW + 1,
        switchedOn: false,
      });
      await store.insertRootKey(rootKey, NO_CHANGES);
      const workspace = await store.getWorkspace(WORKSPACE);
      assert.deepEqual(await other.findRootKey(rootKey.hash), { rootKey, workspace });
      assert.equal(await other.findRootKey(hashOf(1)), null);
    },
  },
  {
    title: "a root key of a disabled workspace shows that the workspace is disabled",
    async check({ store, other }) {
      await store.insertRootKey(aRootKey(), NO_CHANGES);
      await store.setWorkspaceEnabled(WORKSPACE, false, NO_CHANGES);
      const found = await other.findRootKey(aRootKey().hash);
      assert.equal(found?.workspace.enabled, false);
    },
  },
  {
    title: "a deleted root key is found and listed no more, from any process",
    async check({ store, other }) {
      const [first, second] = [aRootKey(1), aRootKey(2)];
      for (const rootKey of [first, second]) await store.insertRootKey(rootKey, NO_CHANGES);
      assert.notEqual(await other.findRootKey(first.hash), null);
      assert.equal(await store.deleteRootKey(WORKSPACE, first.id, NO_CHANGES), "deleted");
      for (const handle of [other, store]) {
        assert.equal(await handle.findRootKey(first.hash), null);
        assert.deepEqual((await handle.findRootKey(second.hash))?.rootKey, second);
        assert.deepEqual(await handle.listRootKeys(WORKSPACE, { afterId: null, limit: 10 }), {
          items: [second],
          hasMore: false,
          total: 1,
        });
        const again = await handle.deleteRootKey(WORKSPACE, first.id, NO_CHANGES);
        assert.equal(again, "not-found");
      }
    },
  },
  {
    title: "of many racers that delete one root key exactly one deletes it",
    async check(stage) {
      await stage.store.insertRootKey(aRootKey(), NO_CHANGES);
      const answers = await race(stage, 12, (store) =>
        store.deleteRootKey(WORKSPACE, aRootKey().id, NO_CHANGES),
      );
      assert.deepEqual(tally(answers), { deleted: 1, "not-found": 11 });
      const { total } = await stage.other.listRootKeys(WORKSPACE, { afterId: null, limit: 1 });
      assert.equal(total, 0);
    },
  },
  {
    title: "root keys are listed once each in ascending order of id, with their total",
    async check({ store, other }) {
      const numbers = [4, 1, 7, 3, 6, 2, 5];
      for (const number of numbers) await store.insertRootKey(aRootKey(number), NO_CHANGES);
      const theirs = aRootKey(9, { workspaceId: OTHER_WORKSPACE });
      await store.insertRootKey(theirs, NO_CHANGES);
      for (const limit of [1, 3, 6, 7, 8]) {
        const { items, pages, total } = await readAll(
          (page) => other.listRootKeys(WORKSPACE, page),
          ({ id }) => id,
          limit,
        );
        assert.deepEqual(
          items,
          numbers.toSorted().map((number) => aRootKey(number)),
        );
        assert.deepEqual([pages, total], [Math.ceil(7 / limit), 7]);
      }
      const { items } = await other.listRootKeys(OTHER_WORKSPACE, { afterId: null, limit: 5 });
      assert.deepEqual(items, [theirs]);
    },
  },
  {
    title: "a root key is no API's key, and an API's key no root key",
    async check({ store }) {
      await withKeys(store, aNewKey());
      await store.insertRootKey(aRootKey(), NO_CHANGES);
      assert.equal(await store.findKey(aRootKey().hash, WORKSPACE), null);
      assert.equal(await store.getKey(WORKSPACE, aRootKey().id), null);
      assert.equal(await store.findRootKey(hashOf(1)), null);
    },
  },
];
