import assert from "node:assert/strict";
import { type ApiPatch, NO_CHANGES } from "@latchkey/core";
import { aNewKey, anApi, aPlan, idOf, OTHER_WORKSPACE, WORKSPACE } from "./fixtures.js";
import { race, tally } from "./race.js";
import { load, readAll, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const API_ID = idOf("api", 1);

const FIELDS = {
  name: "renamed",
  deleteProtection: true,
  ipWhitelist: ["192.0.2.7/32", "2001:db8::/48"],
} as const satisfies ApiPatch;

export const apiPromises: readonly StorePromise[] = [
  {
    title: "an update of an API sets what it gives, raises its version and shows in its keys",
    async check({ store, other }) {
      await withKeys(store, aNewKey());
      let api = anApi();
      for (const [field, value] of Object.entries({ ...FIELDS, ipWhitelist: ["10.0.0.0/8"] })) {
        const patch = { [field]: value };
        const { version } = api;
        const answer = await store.updateApi(WORKSPACE, API_ID, version, patch, NO_CHANGES);
        assert.equal(answer, "updated");
        api = { ...api, ...patch, version: version + 1 };
        assert.deepEqual(await other.getApi(WORKSPACE, API_ID), api);
        assert.deepEqual((await load(other)).api, api);
        const found = await other.findKey((await load(other)).key.hash, WORKSPACE);
        assert.deepEqual(found?.api, api);
      }
      const empty = { name: "", deleteProtection: false, ipWhitelist: [] };
      await store.updateApi(WORKSPACE, API_ID, api.version, empty, NO_CHANGES);
      const { version } = api;
      assert.deepEqual((await load(other)).api, { ...api, ...empty, version: version + 1 });
    },
  },
  {
    title: "no charge on what was read before an API was updated goes through",
    async check({ store, other }) {
      const loaded = await withKeys(store, aNewKey());
      assert.equal((await other.charge(aPlan(loaded))).kind, "charged");
      await store.updateApi(WORKSPACE, API_ID, 1, { ipWhitelist: ["10.0.0.0/8"] }, NO_CHANGES);
      for (const handle of [other, store]) {
        assert.deepEqual(await handle.charge(aPlan(loaded)), { kind: "stale" });
        assert.equal((await handle.charge(aPlan(await load(handle)))).kind, "charged");
      }
    },
  },
  {
    title:
      "an update of an API that expects another version is stale, and of an unknown one not found",
    async check({ store, other }) {
      await store.insertApi(anApi(1, { version: 3 }), NO_CHANGES);
      const before = await store.getWorkspace(WORKSPACE);
      for (const version of [2, 4]) {
        const answer = await store.updateApi(WORKSPACE, API_ID, version, FIELDS, NO_CHANGES);
        assert.equal(answer, "stale");
      }
      const unknown = await store.updateApi(WORKSPACE, idOf("api", 2), 3, FIELDS, NO_CHANGES);
      assert.equal(unknown, "not-found");
      assert.deepEqual(await other.getApi(WORKSPACE, API_ID), anApi(1, { version: 3 }));
      assert.deepEqual(await other.getWorkspace(WORKSPACE), before);
    },
  },
  {
    title: "of many racers that update one version of an API exactly one wins",
    async check(stage) {
      await stage.store.insertApi(anApi(), NO_CHANGES);
      const answers = await race(stage, 15, (store, number) =>
        store.updateApi(WORKSPACE, API_ID, 1, { name: `racer ${number}` }, NO_CHANGES),
      );
      assert.deepEqual(tally(answers), { updated: 1, stale: 14 });
      const name = `racer ${answers.indexOf("updated")}`;
      assert.deepEqual(await stage.other.getApi(WORKSPACE, API_ID), anApi(1, { name, version: 2 }));
    },
  },
  {
    title: "a protected API is not deleted, nor are its keys, until the protection is taken away",
    async check({ store, other }) {
      const loaded = await withKeys(store, aNewKey());
      await store.updateApi(WORKSPACE, API_ID, 1, { deleteProtection: true }, NO_CHANGES);
      const { epoch } = await store.getWorkspace(WORKSPACE);
      assert.equal(await store.deleteApi(WORKSPACE, API_ID, NO_CHANGES), "protected");
      assert.equal((await other.getWorkspace(WORKSPACE)).epoch, epoch);
      assert.equal((await other.charge(aPlan(await load(other)))).kind, "charged");
      await store.updateApi(WORKSPACE, API_ID, 2, { deleteProtection: false }, NO_CHANGES);
      assert.equal(await other.deleteApi(WORKSPACE, API_ID, NO_CHANGES), "deleted");
      assert.equal(await store.getKey(WORKSPACE, loaded.key.id), null);
    },
  },
  {
    title: "an API written with protection is protected",
    async check({ store, other }) {
      await store.insertApi(anApi(1, { deleteProtection: true }), NO_CHANGES);
      assert.equal(await other.deleteApi(WORKSPACE, API_ID, NO_CHANGES), "protected");
    },
  },
  {
    title: "a deleted API is neither updated nor listed nor counted",
    async check({ store, other }) {
      await store.insertApi(anApi(1), NO_CHANGES);
      await store.insertApi(anApi(2), NO_CHANGES);
      await store.deleteApi(WORKSPACE, API_ID, NO_CHANGES);
      const updated = await other.updateApi(WORKSPACE, API_ID, 1, FIELDS, NO_CHANGES);
      assert.equal(updated, "not-found");
      assert.deepEqual(await other.listApis(WORKSPACE, { afterId: null, limit: 10 }), {
        items: [anApi(2)],
        hasMore: false,
        total: 1,
      });
    },
  },
  {
    title: "APIs are listed once each in ascending order of id, with their total",
    async check({ store, other }) {
      const numbers = Array.from({ length: 9 }, (_, index) => 1 + ((index * 4) % 9));
      for (const number of numbers) await store.insertApi(anApi(number), NO_CHANGES);
      await store.insertApi(anApi(10, { workspaceId: OTHER_WORKSPACE }), NO_CHANGES);
      await store.updateApi(WORKSPACE, idOf("api", 4), 1, FIELDS, NO_CHANGES);
      const expected = numbers
        .toSorted((one, two) => one - two)
        .map((number) => anApi(number, number === 4 ? { ...FIELDS, version: 2 } : {}));
      for (const limit of [1, 4, 8, 9, 100]) {
        const { items, pages, total } = await readAll(
          (page) => other.listApis(WORKSPACE, page),
          ({ id }) => id,
          limit,
        );
        assert.deepEqual(items, expected);
        assert.deepEqual([pages, total], [Math.ceil(9 / limit), 9]);
      }
      const empty = await other.listApis("ws_empty", { afterId: null, limit: 1 });
      assert.deepEqual(empty, { items: [], hasMore: false, total: 0 });
    },
  },
];
