import assert from "node:assert/strict";
import { NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aNewKey,
  aRootKey,
  hashOf,
  NOW,
  OTHER_WORKSPACE,
  REMOVAL,
  WORKSPACE,
} from "./fixtures.js";
import { race } from "./race.js";
import { load, withKeys } from "./scene.js";
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
