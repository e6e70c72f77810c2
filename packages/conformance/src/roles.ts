import assert from "node:assert/strict";
import {
  type GrantReference,
  type KeyStore,
  NO_CHANGES,
  type PermissionRecord,
} from "@latchkey/core";
import {
  aKey,
  aNewKey,
  aPermission,
  aPlan,
  aRole,
  byId,
  idOf,
  NOW,
  named,
  orCreate,
  WORKSPACE,
} from "./fixtures.js";
import { race, tally } from "./race.js";
import { load, withKeys } from "./scene.js";
import type { StorePromise } from "./store-promise.js";

const READER = idOf("role", 1);

/** Permissions `a`, `b` and `c`, and role `reader`, which gives `a`, with a key that has it. */
async function withReader(store: KeyStore) {
  for (const [index, name] of ["a", "b", "c"].entries()) {
    await store.insertPermission(aPermission(name, index), NO_CHANGES);
  }
  await store.insertRole(aRole("reader"), [named("a")], NO_CHANGES);
  return withKeys(store, aNewKey(aKey(), { grants: { roles: [named("reader")] } }));
}

function set(
  store: KeyStore,
  version: number,
  permissions: readonly GrantReference<PermissionRecord>[],
  roleId = READER,
) {
  return store.setRolePermissions(WORKSPACE, roleId, version, permissions, NO_CHANGES);
}

async function namesOf(store: KeyStore): Promise<readonly string[] | undefined> {
  const role = await store.getRole(WORKSPACE, READER);
  return role?.permissions.map(({ name }) => name);
}

function namesIn(grants: readonly { readonly name: string }[]): readonly string[] {
  return grants.map(({ name }) => name);
}

export const rolePromises: readonly StorePromise[] = [
  {
    title:
      "roles and permissions are read as they were written, and listed in ascending order of id",
    async check({ store, other }) {
      const numbers = [5, 1, 9, 3, 7];
      const permissions = numbers.map((number) =>
        aPermission(`p${9 - number}`, number, { description: "может 'read'", createdAt: NOW - 1 }),
      );
      for (const permission of permissions) await store.insertPermission(permission, NO_CHANGES);
      const held = [named("p8"), named("p0"), named("p4")];
      const roles = numbers.map((number) =>
        aRole(`r${9 - number}`, number, { description: "", createdAt: NOW - 1 }),
      );
      for (const role of roles) await store.insertRole(role, held, NO_CHANGES);
      const ascending = <Item extends { readonly id: string }>(items: readonly Item[]) =>
        items.toSorted((one, two) => (one.id < two.id ? -1 : 1));
      assert.deepEqual(await other.listPermissions(WORKSPACE), ascending(permissions));
      const given = ["p0", "p4", "p8"].map((name) => {
        const { id } = permissions.find((known) => known.name === name) as PermissionRecord;
        return { id, name };
      });
      const loaded = ascending(roles).map((role) => ({ role, permissions: given }));
      assert.deepEqual(await other.listRoles(WORKSPACE), loaded);
      assert.deepEqual(await other.getRole(WORKSPACE, loaded[2]?.role.id as string), loaded[2]);
      const [first] = permissions;
      assert.deepEqual(await other.getPermission(WORKSPACE, first?.id as string), first);
    },
  },
  {
    title: "a workspace without roles and permissions lists none, and an unknown id finds none",
    async check({ store }) {
      assert.deepEqual(await store.listRoles(WORKSPACE), []);
      assert.deepEqual(await store.listPermissions(WORKSPACE), []);
      await withReader(store);
      for (const unknown of ["", "__proto__", "constructor", idOf("role", 2)]) {
        assert.equal(await store.getRole(WORKSPACE, unknown), null);
        assert.equal(await store.getPermission(WORKSPACE, unknown), null);
      }
    },
  },
  {
    title: "names of roles and permissions may be any text, and are in one order everywhere",
    async check({ store, other }) {
      const names = ["～", "😀", "toString", "ä", "a:b", "a 'b' \"c\" \\ %", "a\u0000b", "a", "Z"];
      for (const [index, name] of names.entries()) {
        await store.insertPermission(aPermission(name, index), NO_CHANGES);
      }
      for (const [index, name] of names.entries()) {
        const { kind } = await store.insertRole(aRole(name, index), names.map(named), NO_CHANGES);
        assert.equal(kind, "inserted");
      }
      const grants = { roles: names.map(named), permissions: names.map(named) };
      await withKeys(store, aNewKey(aKey(), { grants }));
      const ascending = names.toSorted();
      const { roles, permissions, direct } = await load(other);
      assert.deepEqual([roles, permissions], [ascending, ascending]);
      assert.deepEqual([namesIn(direct.roles), namesIn(direct.permissions)], [roles, permissions]);
      for (const role of await other.listRoles(WORKSPACE)) {
        assert.deepEqual(namesIn(role.permissions), ascending);
      }
    },
  },
  {
    title: "a role may give, and a key hold, hundreds of permissions",
    async check({ store, other }) {
      const numbers = Array.from({ length: 300 }, (_, index) => index);
      const permissions = numbers.map((number) => aPermission(`p${1_000 + number}`, number));
      const [given, direct] = [permissions.slice(0, 200), permissions.slice(150)];
      const { kind } = await store.insertRole(aRole("wide"), given.map(orCreate), NO_CHANGES);
      assert.equal(kind, "inserted");
      const grants = { roles: [named("wide")], permissions: direct.map(orCreate) };
      const loaded = await withKeys(store, aNewKey(aKey(), { grants }));
      const names = permissions.map(({ name }) => name);
      assert.deepEqual(loaded.permissions, names);
      assert.equal(loaded.direct.permissions.length, 150);
      assert.deepEqual(await namesOf(other), names.slice(0, 200));
      assert.deepEqual(await other.listPermissions(WORKSPACE), permissions);
    },
  },
  {
    title: "roles and permissions made on demand are listed like others",
    async check({ store, other }) {
      const role = aRole("editor", 4);
      const permission = aPermission("docs.edit", 6);
      const grants = { roles: [orCreate(role)], permissions: [orCreate(permission)] };
      await withKeys(store, aNewKey(aKey(), { grants }));
      assert.deepEqual(await other.listRoles(WORKSPACE), [{ role, permissions: [] }]);
      assert.deepEqual(await other.listPermissions(WORKSPACE), [permission]);
    },
  },
  {
    title:
      "the permissions of a role are replaced, its version rises, and its keys have the new ones",
    async check({ store, other }) {
      await withReader(store);
      for (const [version, references, names] of [
        [1, [named("c"), named("b"), byId(idOf("perm", 1))], ["b", "c"]],
        [2, [orCreate(aPermission("d", 9)), named("a")], ["a", "d"]],
        [3, [], []],
      ] as const) {
        assert.deepEqual(await set(store, version, references), { kind: "updated" });
        const role = await other.getRole(WORKSPACE, READER);
        assert.deepEqual(role?.role, aRole("reader", 1, { version: version + 1 }));
        assert.deepEqual(await namesOf(other), names);
        const { permissions, roles, key } = await load(other);
        assert.deepEqual([permissions, roles, key.version], [names, ["reader"], 1]);
      }
    },
  },
  {
    title: "no charge on what was read before the permissions of a role were set goes through",
    async check({ store, other }) {
      const loaded = await withReader(store);
      assert.equal((await other.charge(aPlan(loaded))).kind, "charged");
      await set(store, 1, []);
      for (const handle of [other, store]) {
        assert.deepEqual(await handle.charge(aPlan(loaded)), { kind: "stale" });
      }
    },
  },
  {
    title:
      "permissions of a role set on another version, or of none, are refused and write nothing",
    async check({ store, other }) {
      await withReader(store);
      const before = await store.getWorkspace(WORKSPACE);
      const fresh = [orCreate(aPermission("fresh", 9))];
      for (const version of [0, 2]) {
        assert.deepEqual(await set(store, version, fresh), { kind: "stale" });
      }
      assert.deepEqual(await set(store, 1, fresh, "role_unknown"), { kind: "not-found" });
      assert.deepEqual(await namesOf(other), ["a"]);
      assert.equal(await store.getPermission(WORKSPACE, idOf("perm", 9)), null);
      assert.deepEqual(await other.getWorkspace(WORKSPACE), before);
    },
  },
  {
    title: "missing permissions of a role are named in the order asked, and nothing is written",
    async check({ store, other }) {
      await withReader(store);
      const before = await store.getWorkspace(WORKSPACE);
      const references = [
        orCreate(aPermission("fresh", 9)),
        named("zebra"),
        named("b"),
        byId("perm_unknown"),
        named("zebra"),
      ];
      assert.deepEqual(await set(store, 1, references), {
        kind: "missing-grants",
        roles: [],
        permissions: ["zebra", "perm_unknown"],
      });
      assert.deepEqual(await namesOf(other), ["a"]);
      assert.equal((await other.listPermissions(WORKSPACE)).length, 3);
      assert.deepEqual(await other.getWorkspace(WORKSPACE), before);
      assert.deepEqual(await set(store, 1, []), { kind: "updated" });
    },
  },
  {
    title: "of many racers that set the permissions of one role exactly one wins",
    async check(stage) {
      await withReader(stage.store);
      const names = ["a", "b", "c"];
      const answers = await race(stage, 15, (store, number) =>
        set(store, 1, [named(names[number % 3] as string)]),
      );
      const kinds = answers.map(({ kind }) => kind);
      assert.deepEqual(tally(kinds), { updated: 1, stale: 14 });
      assert.deepEqual(await namesOf(stage.other), [names[kinds.indexOf("updated") % 3]]);
      assert.equal((await stage.other.getRole(WORKSPACE, READER))?.role.version, 2);
    },
  },
  {
    title: "what a key holds itself is told apart from what its roles give, each with its id",
    async check({ store, other }) {
      await withReader(store);
      const grants = { permissions: [named("c"), named("a")] };
      await store.updateKey(WORKSPACE, idOf("key", 1), 1, { grants }, NO_CHANGES);
      const { direct, permissions } = await load(other);
      assert.deepEqual(direct, {
        roles: [{ id: READER, name: "reader" }],
        permissions: [
          { id: idOf("perm", 0), name: "a" },
          { id: idOf("perm", 2), name: "c" },
        ],
      });
      assert.deepEqual(permissions, ["a", "c"]);
    },
  },
];
