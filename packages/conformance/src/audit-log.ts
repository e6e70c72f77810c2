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
  aPermission,
  aRole,
  idOf,
  logOf,
  NOW,
  named,
  OTHER_WORKSPACE,
  orCreate,
  UNLIMITED,
  WORKSPACE,
} from "./fixtures.js";
import { race } from "./race.js";
import { load, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const KEY_ID = idOf("key", 1);
const ALL: ChangeFilter = { kind: "all" };

/** Writes entries, beside an API that nothing is asked about. */
function write(store: KeyStore, number: number, log: ChangeLog, workspaceId = WORKSPACE) {
  return store.insertApi(anApi(100 + number, { workspaceId }), log);
}

async function list(
  store: KeyStore,
  filter: ChangeFilter = ALL,
  beforeId: string | null = null,
  limit = 100,
) {
  return store.listChanges(WORKSPACE, filter, { beforeId, limit });
}

async function idsOf(store: KeyStore, filter: ChangeFilter = ALL): Promise<readonly string[]> {
  return (await list(store, filter)).items.map(({ id }) => id);
}

/** An entry about something that is made on demand, and about the identity that the other is to be linked to. */
function onDemand(number: number, resourceId: string, fields: Partial<ChangeRecord> = {}) {
  return { change: aChange(number, { resourceId, ...fields }), ifCreated: true };
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
    title: "what is made on demand is logged where it was made, and not where it was there before",
    async check({ store, other }) {
      await store.insertIdentity(anIdentity(1), UNLIMITED, NO_CHANGES);
      await store.insertPermission(aPermission("known", 1), NO_CHANGES);
      await store.insertApi(anApi(), NO_CHANGES);
      const newKeys = [
        aNewKey(aKey(1), {
          identity: anIdentity(11, { externalId: "user-1" }),
          grants: { permissions: [orCreate(aPermission("known", 11))] },
        }),
        aNewKey(aKey(2), {
          identity: anIdentity(12),
          grants: {
            roles: [orCreate(aRole("fresh", 12))],
            permissions: [orCreate(aPermission("fresh", 12))],
          },
        }),
        aNewKey(aKey(3), { identity: anIdentity(13, { externalId: "user-12" }) }),
      ];
      const made = [
        onDemand(1, idOf("id", 11)),
        onDemand(2, idOf("perm", 11)),
        onDemand(3, idOf("id", 12)),
        onDemand(4, idOf("role", 12)),
        onDemand(5, idOf("perm", 12)),
        onDemand(6, idOf("id", 13)),
      ];
      await store.insertKeys(newKeys, [...made, ...logOf(aChange(7))]);
      assert.deepEqual(
        await idsOf(other),
        [7, 5, 4, 3].map((number) => idOf("evt", number)),
      );
    },
  },
  {
    title: "an entry names the identity that was linked, where it names one to be made on demand",
    async check({ store, other }) {
      await store.insertIdentity(anIdentity(1), UNLIMITED, NO_CHANGES);
      await store.insertApi(anApi(), NO_CHANGES);
      const candidates = [
        anIdentity(11, { externalId: "user-1" }),
        anIdentity(12),
        anIdentity(13, { externalId: "user-12" }),
      ];
      const newKeys = candidates.map((identity, index) => aNewKey(aKey(index + 1), { identity }));
      const entries = candidates.map(({ id }, index) =>
        aChange(index + 1, { identityId: id, keyId: idOf("key", index + 1) }),
      );
      await store.insertKeys(newKeys, logOf(...entries));
      const identity = anIdentity(14, { externalId: "user-1" });
      const update = aChange(4, { identityId: identity.id });
      await store.updateKey(WORKSPACE, idOf("key", 3), 1, { identity }, logOf(update));
      const linked = (await list(other)).items.map(({ identityId }) => identityId);
      assert.deepEqual(
        linked,
        [1, 12, 12, 1].map((number) => idOf("id", number)),
      );
      const filter = { kind: "identity", identityId: idOf("id", 1) } as const;
      assert.deepEqual(await idsOf(other, filter), [idOf("evt", 4), idOf("evt", 1)]);
      for (const number of [11, 13, 14]) {
        const none = { kind: "identity", identityId: idOf("id", number) } as const;
        assert.deepEqual(await idsOf(other, none), []);
      }
    },
  },
  {
    title: "a hundred keys are written with all that they ask for and an entry for each of it",
    async check({ store, other }) {
      await store.insertApi(anApi(), NO_CHANGES);
      const numbers = Array.from({ length: 100 }, (_, index) => index + 1);
      const newKeys = numbers.map((number) =>
        aNewKey(aKey(number), {
          identity: anIdentity(number),
          grants: {
            roles: [orCreate(aRole(`role ${number}`, number))],
            permissions: [orCreate(aPermission(`permission ${number}`, number))],
          },
        }),
      );
      const log = numbers.flatMap((number) => [
        onDemand(4 * number, idOf("id", number)),
        onDemand(4 * number + 1, idOf("role", number)),
        onDemand(4 * number + 2, idOf("perm", number)),
        ...logOf(aChange(4 * number + 3, { keyId: idOf("key", number) })),
      ]);
      const result = await store.insertKeys(newKeys, log);
      assert.ok(result.kind === "inserted");
      assert.equal(new Set(result.created).size, 300);
      const page = { afterId: null, limit: 1 };
      const filter = { identityId: null };
      const { total } = await other.listKeys(WORKSPACE, idOf("api", 1), filter, page);
      const { total: identities } = await other.listIdentities(WORKSPACE, page);
      assert.deepEqual([total, identities], [100, 100]);
      let count = 0;
      let beforeId: string | null = null;
      for (let hasMore = true; hasMore; ) {
        const changes = await list(other, ALL, beforeId, 100);
        count += changes.items.length;
        beforeId = changes.items.at(-1)?.id ?? null;
        hasMore = changes.hasMore;
      }
      assert.equal(count, 400);
      const { roles, permissions, identity } = await load(other, idOf("key", 77));
      assert.deepEqual([roles, permissions], [["role 77"], ["permission 77"]]);
      assert.deepEqual(identity, anIdentity(77));
    },
  },
  {
    title: "what an update or a role makes on demand is logged where it was made",
    async check({ store, other }) {
      await withKeys(store, aNewKey());
      const fresh = (number: number) => [orCreate(aPermission("fresh", number))];
      const { kind } = await store.insertRole(aRole("reader"), fresh(1), [
        onDemand(1, idOf("perm", 1)),
        ...logOf(aChange(2)),
      ]);
      assert.equal(kind, "inserted");
      const again = [onDemand(3, idOf("perm", 2)), ...logOf(aChange(4))];
      await store.setRolePermissions(WORKSPACE, idOf("role", 1), 1, fresh(2), again);
      const patch = {
        identity: anIdentity(5),
        grants: { roles: [orCreate(aRole("writer", 5))], permissions: fresh(5) },
      };
      await store.updateKey(WORKSPACE, KEY_ID, 1, patch, [
        onDemand(5, idOf("id", 5), { identityId: idOf("id", 5) }),
        onDemand(6, idOf("role", 5)),
        onDemand(7, idOf("perm", 5)),
      ]);
      assert.deepEqual(
        await idsOf(other),
        [6, 5, 4, 2, 1].map((number) => idOf("evt", number)),
      );
    },
  },
  {
    title: "of many racers that make one identity on demand one logs that it did",
    async check(stage) {
      await stage.store.insertApi(anApi(), NO_CHANGES);
      await race(stage, 12, (store, number) => {
        const identity = anIdentity(number, { externalId: "shared" });
        const newKey = aNewKey(aKey(number), { identity });
        return store.insertKeys(
          [newKey],
          [
            onDemand(number, identity.id, { identityId: identity.id }),
            ...logOf(aChange(100 + number, { identityId: identity.id })),
          ],
        );
      });
      const { key, identity } = await load(stage.other, KEY_ID);
      assert.equal(key.identityId, identity?.id);
      const filter = { kind: "identity", identityId: identity?.id ?? "" } as const;
      const changes = (await list(stage.other)).items;
      assert.equal(changes.length, 13);
      assert.deepEqual((await list(stage.other, filter)).items, changes);
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
