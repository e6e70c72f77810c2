import assert from "node:assert/strict";
import { type Grants, type KeyStore, NO_CHANGES } from "@latchkey/core";
import {
  aKey,
  aNewKey,
  anApi,
  aPermission,
  aRole,
  byId,
  idOf,
  named,
  orCreate,
  WORKSPACE,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { assertSameKey, assertUpdated, insert, listedKeyIds, load, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const KEY_ID = idOf("key", 1);

/** Permissions `a` to `d`; role `reader` with `a` and `b`, role `writer` with `b` and `c`, role `idle` with none. */
async function withRoles(store: KeyStore): Promise<void> {
  for (const [index, name] of ["a", "b", "c", "d"].entries()) {
    assert.equal(await store.insertPermission(aPermission(name, index), NO_CHANGES), "inserted");
  }
  await store.insertRole(aRole("reader", 1), [named("b"), byId(idOf("perm", 0))], NO_CHANGES);
  await store.insertRole(aRole("writer", 2), [named("c"), named("b")], NO_CHANGES);
  await store.insertRole(aRole("idle", 3), [], NO_CHANGES);
}

async function withGrants(store: KeyStore, grants: Grants) {
  const { roles, permissions } = await withKeys(store, aNewKey(aKey(), { grants }));
  return { roles, permissions };
}

export const grantPromises: readonly StorePromise[] = [
  {
    title:
      "a key holds its roles and permissions, direct and through roles, ascending and each once",
    async check({ store }) {
      await withRoles(store);
      const roles = [named("writer"), byId(idOf("role", 1)), named("idle")];
      const held = await withGrants(store, { roles, permissions: [named("d"), named("a")] });
      assert.deepEqual(held, {
        roles: ["idle", "reader", "writer"],
        permissions: ["a", "b", "c", "d"],
      });
    },
  },
  {
    title: "a role or permission that is asked for twice counts once",
    async check({ store }) {
      await withRoles(store);
      const held = await withGrants(store, {
        roles: [
          named("idle"),
          byId(idOf("role", 3)),
          named("idle"),
          orCreate(aRole("new", 8)),
          orCreate(aRole("new", 9)),
        ],
        permissions: [byId(idOf("perm", 0)), named("a"), orCreate(aPermission("a", 9))],
      });
      assert.deepEqual(held, { roles: ["idle", "new"], permissions: ["a"] });
    },
  },
  {
    title:
      "roles and permissions that may be created are written with the key, and found by the next one",
    async check({ store, other }) {
      const grants = {
        roles: [orCreate(aRole("admin", 5))],
        permissions: [orCreate(aPermission("docs.*", 6))],
      };
      assert.deepEqual(await withGrants(store, grants), {
        roles: ["admin"],
        permissions: ["docs.*"],
      });
      const again = { roles: [byId(idOf("role", 5))], permissions: [named("docs.*")] };
      await insert(other, aNewKey(aKey(2), { grants: again }));
      const { roles, permissions } = await load(store, idOf("key", 2));
      assert.deepEqual([roles, permissions], [["admin"], ["docs.*"]]);
    },
  },
  {
    title: "a role that exists is not replaced by one that may be created",
    async check({ store }) {
      await withRoles(store);
      const held = await withGrants(store, { roles: [orCreate(aRole("reader", 9))] });
      assert.deepEqual(held, { roles: ["reader"], permissions: ["a", "b"] });
    },
  },
  {
    title: "a permission asked for by many new keys at once is created once and held by all",
    async check(stage) {
      await stage.store.insertApi(anApi(), NO_CHANGES);
      await race(stage, 12, (store, number) => {
        const grants = { permissions: [orCreate(aPermission("shared", number))] };
        return insert(store, aNewKey(aKey(number), { grants }));
      });
      for (let number = 0; number < 12; number += 1) {
        assert.deepEqual((await load(stage.other, idOf("key", number))).permissions, ["shared"]);
      }
      assert.equal(
        await stage.store.insertPermission(aPermission("shared", 99), NO_CHANGES),
        "name-taken",
      );
    },
  },
  {
    title:
      "a new key with missing roles or permissions is refused, lists each in the order asked, and writes nothing",
    async check({ store }) {
      await withRoles(store);
      await store.insertApi(anApi(), NO_CHANGES);
      const grants = {
        roles: [
          named("zebra"),
          named("reader"),
          orCreate(aRole("fresh", 7)),
          byId("role_unknown"),
          named("zebra"),
        ],
        permissions: [
          orCreate(aPermission("fresh", 7)),
          byId("perm_unknown"),
          named("a"),
          named("missing"),
        ],
      };
      assert.deepEqual(await store.insertKeys([aNewKey(aKey(), { grants })], NO_CHANGES), {
        kind: "missing-grants",
        roles: ["zebra", "role_unknown"],
        permissions: ["perm_unknown", "missing"],
      });
      assert.deepEqual(await listedKeyIds(store), []);
      assert.equal(await store.insertPermission(aPermission("fresh", 8), NO_CHANGES), "inserted");
      assert.deepEqual(await store.insertRole(aRole("fresh", 8), [], NO_CHANGES), {
        kind: "inserted",
      });
    },
  },
  {
    title:
      "an update replaces the sets it gives, keeps those it leaves out, and empties one given empty",
    async check({ store, other }) {
      await withRoles(store);
      await withGrants(store, { roles: [named("reader")], permissions: [named("d")] });
      const steps: readonly (readonly [Grants, readonly string[], readonly string[]])[] = [
        [{ roles: [named("writer")] }, ["writer"], ["b", "c", "d"]],
        [{ permissions: [named("a")] }, ["writer"], ["a", "b", "c"]],
        [{ roles: [] }, [], ["a"]],
        [{}, [], ["a"]],
        [{ permissions: [] }, [], []],
        [{ roles: [orCreate(aRole("new", 9))], permissions: [named("b")] }, ["new"], ["b"]],
      ];
      for (const [index, [grants, roles, permissions]] of steps.entries()) {
        assertUpdated(await store.updateKey(WORKSPACE, KEY_ID, index + 1, { grants }, NO_CHANGES));
        const loaded = await load(other);
        assert.deepEqual([loaded.roles, loaded.permissions], [roles, permissions]);
        assert.equal(loaded.key.version, index + 2);
      }
    },
  },
  {
    title: "an update with missing roles or permissions is refused and writes nothing",
    async check({ store }) {
      await withRoles(store);
      const grants = { roles: [named("reader")], permissions: [named("d")] };
      const loaded = await withKeys(store, aNewKey(aKey(), { grants }));
      const patch = {
        name: "new",
        usage: { due: null, operation: { kind: "set", remaining: 3 }, settledAt: 0 },
        grants: { roles: [], permissions: [orCreate(aPermission("fresh", 7)), named("missing")] },
      } as const;
      const result = await store.updateKey(WORKSPACE, KEY_ID, 1, patch, NO_CHANGES);
      assert.deepEqual(result, { kind: "missing-grants", roles: [], permissions: ["missing"] });
      assertSameKey(await load(store), loaded);
      assert.equal(await store.insertPermission(aPermission("fresh", 8), NO_CHANGES), "inserted");
    },
  },
  {
    title: "names of permissions and of roles are unique, whatever the racers, and exact",
    async check(stage) {
      const permissions = await race(stage, 10, (store, number) =>
        store.insertPermission(aPermission("one", number), NO_CHANGES),
      );
      assert.deepEqual(tally(permissions), { inserted: 1, "name-taken": 9 });
      const roles = await race(stage, 10, (store, number) =>
        store.insertRole(aRole("one", number), [], NO_CHANGES),
      );
      assert.deepEqual(tally(roles.map(({ kind }) => kind)), { inserted: 1, "name-taken": 9 });
      assert.equal(
        await stage.store.insertPermission(aPermission("One", 20), NO_CHANGES),
        "inserted",
      );
      assert.equal(
        await stage.store.insertPermission(aPermission("one ", 21), NO_CHANGES),
        "inserted",
      );
    },
  },
  {
    title: "a role is written with its permissions, those that may be created too, or not at all",
    async check({ store }) {
      const fresh = orCreate(aPermission("fresh", 7));
      const refused = await store.insertRole(
        aRole("editor"),
        [fresh, named("missing"), byId("perm_unknown")],
        NO_CHANGES,
      );
      assert.deepEqual(refused, {
        kind: "missing-grants",
        roles: [],
        permissions: ["missing", "perm_unknown"],
      });
      assert.deepEqual(await store.insertRole(aRole("editor"), [fresh, fresh], NO_CHANGES), {
        kind: "inserted",
      });
      const held = await withGrants(store, { roles: [named("editor")] });
      assert.deepEqual(held, { roles: ["editor"], permissions: ["fresh"] });
    },
  },
];
