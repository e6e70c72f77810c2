import assert from "node:assert/strict";
import {
  type ChangeFilter,
  type ChangeLog,
  type ChangeRecord,
  type KeyStore,
  NO_CHANGES,
} from "@latchkey/core";
import {
  aChange,
  aKey,
  aNewKey,
  anApi,
  anIdentity,
  idOf,
  logOf,
  NOW,
  named,
  OTHER_WORKSPACE,
  WORKSPACE,
} from "./fixtures.js";
import { ALL, idsOf, list } from "./log-scene.js";
import { race } from "./race.js";
import { withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const KEY_ID = idOf("key", 1);

/** Writes entries, beside an API that nothing is asked about. */
function write(store: KeyStore, number: number, log: ChangeLog, workspaceId = WORKSPACE) {
  return store.insertApi(anApi(100 + number, { workspaceId }), log);
}

export const auditLogPromises: readonly StorePromise[] = [
  {
    title: "an entry of the audit log is read as it was written",
    async check({ store, other }) {
      const change = aChange(1, {
        type: "identity.updated",
        actor: "root_😀 'quoted'",
        resourceId: idOf("id", 1),
        keyId: KEY_ID,
        identityId: idOf("id", 1),
        at: NOW + 7,
        fields: [
          { field: "name", before: null, after: 'a "b" \\ \u2028' },
          { field: "meta", after: { deep: [1, { deeper: null }], "": false } },
          { field: "remaining", before: Number.MAX_SAFE_INTEGER },
        ],
      });
      await write(store, 1, logOf(change, aChange(2, { fields: [] })));
      const { items, hasMore } = await list(other);
      assert.deepEqual([...items], [aChange(2, { fields: [] }), change]);
      assert.equal(hasMore, false);
    },
  },
  {
    title: "the audit log lists the latest entry first, whatever the order of writing",
    async check({ store, other }) {
      for (const number of [3, 9, 1, 7, 5]) {
        await write(store, number, logOf(aChange(number), aChange(number + 1)));
      }
      const expected = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map((number) => idOf("evt", number));
      assert.deepEqual(await idsOf(other), expected);
      for (const limit of [1, 3, 9, 10, 11]) {
        const seen: string[] = [];
        let beforeId: string | null = null;
        for (let pages = 1; ; pages += 1) {
          const page = await list(other, ALL, beforeId, limit);
          assert.ok(page.items.length <= limit);
          seen.push(...page.items.map(({ id }) => id));
          beforeId = seen.at(-1) as string;
          if (page.hasMore) continue;
          assert.equal(pages, Math.ceil(10 / limit));
          break;
        }
        assert.deepEqual(seen, expected);
      }
      assert.deepEqual(await list(other, ALL, idOf("evt", 1), 5), { items: [], hasMore: false });
    },
  },
  {
    title: "the audit log can be asked for one key, one identity or one actor, page by page",
    async check({ store, other }) {
      const changes = Array.from({ length: 24 }, (_, number) =>
        aChange(number, {
          keyId: number % 2 === 0 ? KEY_ID : idOf("key", number),
          identityId: number % 3 === 0 ? idOf("id", 1) : null,
          actor: [null, "root_1", "root_2", KEY_ID][number % 4] as string | null,
        }),
      );
      await write(store, 1, logOf(...changes.slice(0, 20)));
      for (const change of changes.slice(20))
        await write(store, Number(change.id.slice(4)), logOf(change));
      const filters: readonly (readonly [ChangeFilter, (change: ChangeRecord) => boolean])[] = [
        [{ kind: "key", keyId: KEY_ID }, ({ keyId }) => keyId === KEY_ID],
        [
          { kind: "identity", identityId: idOf("id", 1) },
          ({ identityId }) => identityId === idOf("id", 1),
        ],
        [{ kind: "actor", actor: "root_1" }, ({ actor }) => actor === "root_1"],
        [{ kind: "actor", actor: "root" }, () => false],
        [{ kind: "key", keyId: "__proto__" }, () => false],
      ];
      for (const [filter, isWanted] of filters) {
        const expected = changes.filter(isWanted).reverse();
        assert.deepEqual((await list(other, filter)).items, expected);
        for (const limit of [1, expected.length - 1, expected.length].filter((size) => size > 0)) {
          const page = await list(other, filter, null, limit);
          assert.deepEqual(page.items, expected.slice(0, limit));
          assert.equal(page.hasMore, expected.length > limit);
          const beforeId = page.items.at(-1)?.id ?? idOf("evt", 0);
          const next = await list(other, filter, beforeId, 100);
          assert.deepEqual(next.items, expected.slice(limit));
        }
      }
    },
  },
  {
    title: "the audit log of one workspace is none of another's",
    async check({ store, other }) {
      const mine = aChange(1, { keyId: KEY_ID, actor: "root_1" });
      const theirs = aChange(2, { ...mine, id: idOf("evt", 2), workspaceId: OTHER_WORKSPACE });
      await write(store, 1, logOf(mine));
      await write(store, 2, logOf(theirs), OTHER_WORKSPACE);
      const page = { beforeId: null, limit: 10 };
      for (const filter of [
        ALL,
        { kind: "key", keyId: KEY_ID },
        { kind: "actor", actor: "root_1" },
      ] as const) {
        assert.deepEqual((await list(other, filter)).items, [mine]);
        const { items } = await other.listChanges(OTHER_WORKSPACE, filter, page);
        assert.deepEqual(items, [theirs]);
      }
      await store.deleteChanges(OTHER_WORKSPACE, idOf("evt", 99), 1_000);
      assert.deepEqual(await idsOf(other), [mine.id]);
    },
  },
  {
    title: "each key deleted of an API leaves its own entry, and no other does",
    async check({ store, other }) {
      const [first, ...rest] = [1, 2, 3, 4, 5].map((number) => aNewKey(aKey(number)));
      await withKeys(store, first as NonNullable<typeof first>, ...rest);
      const entryOf = (keyId: string) => {
        const change = aChange(Number(keyId.slice(4)), { type: "key.deleted", keyId });
        return { change, ifCreated: false };
      };
      const api = idOf("api", 1);
      const { deleted } = await store.deleteKeys(WORKSPACE, api, 2, NOW, entryOf);
      assert.equal(deleted.length, 2);
      const keyIds = (await list(other)).items.map(({ keyId }) => keyId);
      assert.deepEqual(keyIds.toSorted(), deleted.toSorted());
      await store.deleteKeys(WORKSPACE, api, 1, NOW, null);
      assert.equal((await list(other)).items.length, 2);
      await store.deleteApi(WORKSPACE, api, NO_CHANGES);
      await other.deleteKeys(WORKSPACE, api, 10, NOW, entryOf);
      assert.equal((await list(store)).items.length, 4);
    },
  },
  {
    title: "racers that delete the keys of one API log each of them once",
    async check(stage) {
      const [first, ...rest] = Array.from({ length: 30 }, (_, number) => aNewKey(aKey(number)));
      await withKeys(stage.store, first as NonNullable<typeof first>, ...rest);
      await race(stage, 6, async (store, racer) => {
        const entryOf = (keyId: string) => ({
          change: aChange(1_000 * racer + Number(keyId.slice(4)), { keyId }),
          ifCreated: false,
        });
        const api = idOf("api", 1);
        while ((await store.deleteKeys(WORKSPACE, api, 4, NOW, entryOf)).hasMore);
      });
      const keyIds = (await list(stage.other)).items.map(({ keyId }) => keyId);
      assert.deepEqual(
        keyIds.toSorted(),
        Array.from({ length: 30 }, (_, number) => idOf("key", number)),
      );
    },
  },
  {
    title: "of many racers that change one key the one that did leaves its entry",
    async check(stage) {
      await withKeys(stage.store, aNewKey());
      const kinds = await race(stage, 15, async (store, number) => {
        const patch = { name: `racer ${number}` };
        const log = logOf(aChange(number, { keyId: KEY_ID }));
        return (await store.updateKey(WORKSPACE, KEY_ID, 1, patch, log)).kind;
      });
      assert.deepEqual(await idsOf(stage.other), [idOf("evt", kinds.indexOf("updated"))]);
    },
  },
  {
    title: "entries of the audit log before one are forgotten, a bounded number at a time",
    async check({ store, other }) {
      const changes = Array.from({ length: 10 }, (_, number) =>
        aChange(number + 1, { keyId: KEY_ID, actor: "root_1", identityId: idOf("id", 1) }),
      );
      await write(store, 1, logOf(...changes));
      const beforeId = idOf("evt", 8);
      const first = await store.deleteChanges(WORKSPACE, beforeId, 3);
      assert.deepEqual(first, { deleted: 3, hasMore: true });
      assert.equal((await list(other)).items.length, 7);
      const second = await other.deleteChanges(WORKSPACE, beforeId, 4);
      assert.deepEqual(second, { deleted: 4, hasMore: false });
      const done = await store.deleteChanges(WORKSPACE, beforeId, 4);
      assert.deepEqual(done, { deleted: 0, hasMore: false });
      const left = [10, 9, 8].map((number) => idOf("evt", number));
      for (const filter of [
        ALL,
        { kind: "key", keyId: KEY_ID },
        { kind: "identity", identityId: idOf("id", 1) },
        { kind: "actor", actor: "root_1" },
      ] as const) {
        assert.deepEqual(await idsOf(other, filter), left);
      }
    },
  },
  {
    title: "what was deleted stays in the audit log",
    async check({ store, other }) {
      const identity = anIdentity();
      const missing = await store.insertKeys(
        [aNewKey(aKey(), { grants: { roles: [named("missing")] } })],
        logOf(aChange(1, { keyId: KEY_ID })),
      );
      assert.notEqual(missing.kind, "inserted");
      await withKeys(store, aNewKey(aKey(), { identity }));
      const removal = { deletedAt: NOW, permanent: true };
      const ids = { keyId: KEY_ID, identityId: identity.id };
      await store.deleteKey(WORKSPACE, KEY_ID, removal, logOf(aChange(2, ids)));
      await store.deleteIdentity(WORKSPACE, identity.id, logOf(aChange(3, ids)));
      await store.deleteApi(WORKSPACE, idOf("api", 1), logOf(aChange(4, ids)));
      for (const filter of [
        { kind: "key", keyId: KEY_ID },
        { kind: "identity", identityId: identity.id },
      ] as const) {
        assert.deepEqual(
          await idsOf(other, filter),
          [4, 3, 2].map((number) => idOf("evt", number)),
        );
      }
    },
  },
];
