import assert from "node:assert/strict";
import { type ChangeRecord, NO_CHANGES } from "@latchkey/core";
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
  orCreate,
  UNLIMITED,
  WORKSPACE,
} from "./fixtures.js";
import { ALL, idsOf, list } from "./log-scene.js";
import { race } from "./race.js";
import { load, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const KEY_ID = idOf("key", 1);

/** An entry about something that is made on demand, and about the identity that the other is to be linked to. */
function onDemand(number: number, resourceId: string, fields: Partial<ChangeRecord> = {}) {
  return { change: aChange(number, { resourceId, ...fields }), ifCreated: true };
}

export const loggedOnDemandPromises: readonly StorePromise[] = [
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
];
