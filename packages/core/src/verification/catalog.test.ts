import { describe, expect, test } from "vitest";
import { permissionType, roleType } from "../records/grants.js";
import { identityType } from "../records/identity.js";
import { workspaceType } from "../records/workspace.js";
import {
  asLoaded,
  found,
  load,
  loadOne,
  permission,
  role,
  catalogSetup as setUp,
} from "../testing/catalog.js";
import { identityWith, loadedWith, usageOf } from "../testing/records.js";
import { Catalog, emptySnapshot, learn, loadKey } from "./catalog.js";

const WORKSPACE_ID = "ws_default";
const { api } = loadedWith();

describe("a key is assembled", () => {
  test("with its API, its counters and a workspace that was never written", async () => {
    const { store, catalog } = setUp();
    const usage = usageOf(3);
    const loaded = await loadOne(catalog, store, found({}, { usage, usedAt: 7, handle: "row" }));
    expect(loaded).toEqual(
      loadedWith({}, { usage, lastUsedAt: 7, handle: "row", identityHandle: undefined }),
    );
  });

  test("with the workspace as it was written", async () => {
    const { store, catalog } = setUp();
    const workspace = { id: WORKSPACE_ID, name: "tides", enabled: false, version: 3 };
    store.put(workspaceType, workspace);
    expect((await loadOne(catalog, store)).workspace).toEqual(workspace);
  });

  test("with the identity that was read along, and its shared uses", async () => {
    const { store, catalog } = setUp();
    const identity = identityWith();
    const usage = usageOf(5);
    const linked = { record: identityType.encode(identity), usage, usedAt: null, handle: "row 2" };
    const loaded = await loadOne(catalog, store, found({ identityId: "id_1" }, { linked }));
    expect(loaded).toMatchObject({ identity, identityUsage: usage, identityHandle: "row 2" });
  });

  test("without an identity that was deleted", async () => {
    const { store, catalog } = setUp();
    const loaded = await loadOne(catalog, store, found({ identityId: "id_gone" }));
    expect(loaded).toMatchObject({ identity: null, identityUsage: null });
  });

  test("with its roles and permissions by name: direct, inherited, each once, in ascending order", async () => {
    const { store, catalog } = setUp();
    const key = found({ roles: ["role_e", "role_a"], permissions: ["perm_w"] });
    expect(await loadOne(catalog, store, key)).toMatchObject({
      roles: ["accountant", "editor"],
      permissions: ["billing.read", "docs.read", "docs.write"],
      direct: {
        roles: [
          { id: "role_a", name: "accountant" },
          { id: "role_e", name: "editor" },
        ],
        permissions: [{ id: "perm_w", name: "docs.write" }],
      },
    });
  });

  test("with both in ascending order of name, whatever their stored order", async () => {
    const { store, catalog } = setUp();
    const ids = ["perm_b", "perm_r", "perm_w"];
    const names = ["billing.read", "docs.read", "docs.write"];
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
    ]) {
      const key = found({ permissions: order.map((at) => ids[at] as string) });
      const { direct } = await loadOne(catalog, store, key);
      expect(direct.permissions.map(({ name }) => name)).toEqual(names);
    }
  });

  test("without roles and permissions that were deleted", async () => {
    const { store, catalog } = setUp();
    store.remove({ kind: "role", id: "role_a" });
    store.remove({ kind: "permission", id: "perm_w" });
    const key = found({ roles: ["role_e", "role_a"], permissions: ["perm_w"] });
    expect(await loadOne(catalog, store, key)).toMatchObject({
      roles: ["editor"],
      permissions: ["docs.read"],
      direct: { permissions: [] },
    });
  });

  test("is null if its API was deleted", async () => {
    const { store, catalog } = setUp();
    store.remove({ kind: "api", id: "api_1" });
    expect(await load(catalog, store, found())).toEqual([null]);
  });

  test("one for each record, in their order", async () => {
    const { store, catalog } = setUp();
    const ids = ["key_3", "key_1", "key_2"];
    const keys = await load(catalog, store, ...ids.map((id) => found({ id })));
    expect(keys?.map((key) => asLoaded(key).key.id)).toEqual(ids);
  });
});

describe("what many keys share", () => {
  test("is read once per revision, whichever key needs it", async () => {
    const { store, catalog } = setUp();
    const key = found({ roles: ["role_e"] });
    await load(catalog, store, key, found({ id: "key_2", roles: ["role_e"] }));
    // The role is read first, then the permissions that it leads to.
    expect(store.reads).toHaveLength(2);
    await loadOne(catalog, store, key);
    expect(store.reads).toHaveLength(2);
  });

  test("is read in at most two trips: roles lead to permissions, permissions to nothing", async () => {
    const { store, catalog } = setUp();
    await loadOne(catalog, store, found({ roles: ["role_e", "role_a"], permissions: ["perm_r"] }));
    expect(store.reads.map((wants) => wants.length)).toEqual([5, 2]);
  });

  test("is one value for all keys with the same grants", async () => {
    const { store, catalog } = setUp();
    const [one, other] =
      (await load(
        catalog,
        store,
        found({ roles: ["role_e"] }),
        found({ id: "key_2", roles: ["role_e"] }),
      )) ?? [];
    expect(asLoaded(one).permissions).toBe(asLoaded(other).permissions);
    expect(Object.isFrozen(asLoaded(one).permissions)).toBe(true);
  });

  test("is not taken from an earlier key with fewer, more or other roles and permissions", async () => {
    const { store, catalog } = setUp();
    const roles = [[], ["role_e"], ["role_a"], ["role_e", "role_a"], ["role_gone"]];
    const permissions = [[], ["perm_r"], ["perm_b"], ["perm_r", "perm_b"], ["perm_gone"]];
    const sets = roles.flatMap((some) =>
      permissions.map((own) => ({ roles: some, permissions: own })),
    );
    const namesOf = async (of: Catalog, fields: object) => {
      const { roles: names, permissions: held, direct } = await loadOne(of, store, found(fields));
      return { names, held, direct };
    };
    for (const one of sets) {
      for (const other of sets) {
        await namesOf(catalog, one);
        expect(await namesOf(catalog, other)).toEqual(await namesOf(setUp().catalog, other));
      }
    }
  });

  test("is resolved once, for up to 20,000 different sets", async () => {
    const { store } = setUp();
    const snapshot = emptySnapshot(0);
    const wants = [
      { kind: "workspace", id: WORKSPACE_ID },
      { kind: "api", id: api.id },
    ] as const;
    learn(snapshot, WORKSPACE_ID, wants, (await store.read(WORKSPACE_ID, wants)).found);
    const held = (index: number) => {
      const key = found({ permissions: [`perm_${index}`] });
      return asLoaded(loadKey(snapshot, WORKSPACE_ID, key, true)).direct;
    };
    const first = held(0);
    for (let index = 1; index < 20_000; index += 1) held(index);
    expect(held(0)).toBe(first);
    held(20_000);
    expect(held(0)).not.toBe(first);
  });

  test("that is cached is returned synchronously, without a promise", async () => {
    const { store, catalog } = setUp();
    const key = found({ roles: ["role_e"], permissions: ["perm_b"] });
    const first = await catalog.loadKeys(WORKSPACE_ID, store.revision, [key]);
    expect(catalog.loadKeys(WORKSPACE_ID, store.revision, [key])).toEqual(first);
    expect(catalog.loadKeys(WORKSPACE_ID, store.revision, [])).toEqual([]);
  });

  test("that does not exist is remembered too, until there is another revision", async () => {
    const { store, catalog } = setUp();
    const key = found({ roles: ["role_new"] });
    expect((await loadOne(catalog, store, key)).roles).toEqual([]);
    const reads = store.reads.length;
    await loadOne(catalog, store, key);
    expect(store.reads).toHaveLength(reads);
    store.put(roleType, role("role_new", "new", []));
    store.revision += 1;
    expect((await loadOne(catalog, store, key)).roles).toEqual(["new"]);
  });

  test("is read in batches of 5,000 if one page needs more", async () => {
    const { store, catalog } = setUp();
    const roles = Array.from({ length: 5_001 }, (_, index) => `role_${index}`);
    expect((await loadOne(catalog, store, found({ roles }))).roles).toEqual([]);
    expect(store.reads.map((wants) => wants.length)).toEqual([5_000, 3]);
  });
});

describe("a revision", () => {
  test("that changes causes everything to be read again", async () => {
    const { store, catalog } = setUp();
    const key = found({ permissions: ["perm_r"] });
    expect((await loadOne(catalog, store, key)).permissions).toEqual(["docs.read"]);
    store.put(permissionType, permission("perm_r", "docs.see"));
    store.revision += 1;
    const loaded = await loadOne(catalog, store, key);
    expect(loaded).toMatchObject({ permissions: ["docs.see"], revision: 1 });
  });

  test("that changes during a read gives null: the keys must be read again", async () => {
    const { store } = setUp();
    const catalog = new Catalog({
      read: async (workspaceId, wants) => {
        store.revision += 1;
        return store.read(workspaceId, wants);
      },
    });
    expect(await catalog.loadKeys(WORKSPACE_ID, 0, [found()])).toBeNull();
  });

  test("that changes between the two trips gives null, and two revisions are never mixed", async () => {
    const { store } = setUp();
    let trips = 0;
    const catalog = new Catalog({
      read: async (workspaceId, wants) => {
        trips += 1;
        if (trips === 2) {
          store.put(permissionType, permission("perm_r", "docs.see"));
          store.revision += 1;
        }
        return store.read(workspaceId, wants);
      },
    });
    const key = found({ roles: ["role_e"] });
    expect(await catalog.loadKeys(WORKSPACE_ID, 0, [key])).toBeNull();
    const [again] = (await catalog.loadKeys(WORKSPACE_ID, 1, [key])) ?? [];
    expect(asLoaded(again).permissions).toEqual(["docs.see", "docs.write"]);
  });

  test.each([4, 6])(
    "that is no longer current, %d, gives null, and drops nothing from the cache",
    async (late) => {
      const { store, catalog } = setUp();
      store.revision = 5;
      await loadOne(catalog, store);
      expect(await catalog.loadKeys(WORKSPACE_ID, late, [found()])).toBeNull();
      const reads = store.reads.length;
      await loadOne(catalog, store);
      expect(store.reads).toHaveLength(reads);
    },
  );

  test("replaces any other, even a higher one: a store may have lost that", async () => {
    const { store, catalog } = setUp();
    const key = found({ permissions: ["perm_r"] });
    store.revision = 9;
    store.put(permissionType, permission("perm_r", "docs.lost"));
    expect((await loadOne(catalog, store, key)).permissions).toEqual(["docs.lost"]);
    store.revision = 3;
    store.put(permissionType, permission("perm_r", "docs.read"));
    expect((await loadOne(catalog, store, key)).permissions).toEqual(["docs.read"]);
    const reads = store.reads.length;
    await loadOne(catalog, store, key);
    expect(store.reads).toHaveLength(reads);
  });

  test("is loaded in the same number of reads, however many late answers come in between", async () => {
    const { store } = setUp();
    store.revision = 5;
    const loading: Promise<unknown>[] = [];
    let calls = 0;
    const catalog: Catalog = new Catalog({
      read: async (workspaceId, wants) => {
        // Every read meets one late answer, until there are no more of these.
        calls += 1;
        if (calls <= 20)
          loading.push(Promise.resolve(catalog.loadKeys(WORKSPACE_ID, calls % 5, [found()])));
        return store.read(workspaceId, wants);
      },
    });
    const key = found({ roles: ["role_e"] });
    const [loaded] = (await catalog.loadKeys(WORKSPACE_ID, 5, [key])) ?? [];
    expect(asLoaded(loaded).permissions).toEqual(["docs.read", "docs.write"]);
    expect(await Promise.all(loading)).toEqual(Array(20).fill(null));
    expect(store.reads.length).toBeLessThanOrEqual(22);
  });

  test("of one workspace is independent of another's", async () => {
    const { store, catalog } = setUp();
    store.revision = 5;
    await loadOne(catalog, store);
    store.revision = 0;
    const [other] = (await catalog.loadKeys("ws_2", 0, [found()])) ?? [];
    expect(asLoaded(other).workspace.id).toBe("ws_2");
    store.revision = 5;
    expect((await loadOne(catalog, store)).revision).toBe(5);
  });
});

describe("permissions of roles", () => {
  test("come by name, in ascending order, for each role", async () => {
    const { store, catalog } = setUp();
    const roles = [
      role("role_e", "editor", ["perm_w", "perm_r"]),
      role("role_n", "none", []),
      role("role_g", "gone", ["perm_gone"]),
    ];
    expect(await catalog.loadRoles(WORKSPACE_ID, store.revision, roles)).toEqual([
      [
        { id: "perm_r", name: "docs.read" },
        { id: "perm_w", name: "docs.write" },
      ],
      [],
      [],
    ]);
  });

  test("of a revision that is no longer current are null", async () => {
    const { store, catalog } = setUp();
    store.revision = 1;
    const roles = [role("role_e", "editor", ["perm_w"])];
    expect(await catalog.loadRoles(WORKSPACE_ID, 0, roles)).toBeNull();
  });
});

describe("whether a workspace is disabled", () => {
  const isDisabled = (catalog: Catalog, revision = 0) =>
    catalog.isWorkspaceDisabled(WORKSPACE_ID, revision);

  test("follows its record, and is false if it was never written", async () => {
    for (const enabled of [true, false, null]) {
      const { store, catalog } = setUp();
      if (enabled !== null)
        store.put(workspaceType, { id: WORKSPACE_ID, name: null, enabled, version: 1 });
      expect(await isDisabled(catalog)).toBe(enabled === false);
    }
  });

  test("is unknown for a damaged record, and null for another revision", async () => {
    const { store, catalog } = setUp();
    store.put(workspaceType, { id: WORKSPACE_ID, name: null, enabled: false, version: 1 });
    const broken = new Catalog({
      read: async (workspaceId, wants) => {
        const { revision, found: read } = await store.read(workspaceId, wants);
        const damaged = read.map((each) =>
          each === null ? null : { ...each, record: { ...each.record, body: "{" } },
        );
        return { revision, found: damaged };
      },
    });
    expect(await isDisabled(broken)).toBe(false);
    expect(await isDisabled(catalog, 7)).toBeNull();
  });
});

describe("the memory of a process", () => {
  test.each([
    { others: 9_999, every: 10_000, isKept: true },
    { others: 10_000, every: 10_001, isKept: false },
    { others: 20_000, every: 1_000, isKept: true },
  ])(
    "holds 10,000 workspaces: after $others others the first, used after $every, is kept: $isKept",
    async ({ others, every, isKept }) => {
      const { store, catalog } = setUp();
      for (let index = 0; index < others; index += 1) {
        if (index % every === 0) await loadOne(catalog, store);
        await catalog.loadKeys(`ws_${index}`, 0, [found()]);
      }
      const reads = store.reads.length;
      expect((await loadOne(catalog, store)).api).toEqual(api);
      expect(store.reads.length === reads).toBe(isKept);
    },
  );

  test.each([
    { roles: 20_000, isKept: true },
    { roles: 20_001, isKept: false },
  ])(
    "holds 20,000 records of a kind in a workspace: with $roles the next page begins with what is known: $isKept",
    async ({ roles, isKept }) => {
      const { store, catalog } = setUp();
      const ids = Array.from({ length: roles }, (_, index) => `role_${index}`);
      await loadOne(catalog, store, found({ roles: ids }));
      const reads = store.reads.length;
      await loadOne(catalog, store);
      expect(store.reads.length === reads).toBe(isKept);
    },
  );
});
