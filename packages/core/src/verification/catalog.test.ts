import { describe, expect, test } from "vitest";
import { LatchkeyError } from "../errors.js";
import { apiType } from "../records/api.js";
import { identityType } from "../records/identity.js";
import type { KeyRecord } from "../records/key.js";
import { keyType } from "../records/key.js";
import { type PermissionRecord, permissionType } from "../records/permission.js";
import { type RoleRecord, roleType } from "../records/role.js";
import { workspaceType } from "../records/workspace.js";
import type { LoadedRecord } from "../store/key-store.js";
import { identityWith, keyWith, loadedWith, usageOf } from "../testing/records.js";
import { TestStore } from "../testing/store.js";
import { Catalog, type CatalogKey } from "./catalog.js";
import type { LoadedKey } from "./loaded-key.js";

const WORKSPACE_ID = "ws_default";
const { api } = loadedWith();

const permission = (id: string, name: string): PermissionRecord => ({
  id,
  workspaceId: WORKSPACE_ID,
  name,
  description: null,
  createdAt: 1,
});
const role = (id: string, name: string, permissions: readonly string[]): RoleRecord => ({
  ...permission(id, name),
  permissions,
  version: 1,
});

/** Two roles over three permissions, and an API. */
function setUp() {
  const store = new TestStore();
  store.put(apiType, api);
  for (const [id, name] of [
    ["perm_r", "docs.read"],
    ["perm_w", "docs.write"],
    ["perm_b", "billing.read"],
  ] as const)
    store.put(permissionType, permission(id, name));
  store.put(roleType, role("role_e", "editor", ["perm_w", "perm_r"]));
  store.put(roleType, role("role_a", "accountant", ["perm_b"]));
  return { store, catalog: new Catalog(store) };
}

/** A key as a read answers it. */
function found(fields: Partial<KeyRecord> = {}, rest: Partial<LoadedRecord> = {}): LoadedRecord {
  return {
    record: keyType.encode(keyWith(fields)),
    usage: usageOf(),
    usedAt: null,
    linked: null,
    ...rest,
  };
}

async function load(catalog: Catalog, store: TestStore, ...keys: readonly LoadedRecord[]) {
  return catalog.loadKeys(WORKSPACE_ID, store.revision, keys);
}

function asLoaded(key: CatalogKey | undefined): LoadedKey {
  if (key === undefined || key === null || key instanceof LatchkeyError)
    throw new Error("the key was not loaded", { cause: key });
  return key;
}

async function loadOne(catalog: Catalog, store: TestStore, key = found()): Promise<LoadedKey> {
  const [loaded] = (await load(catalog, store, key)) ?? [];
  return asLoaded(loaded);
}

const corrupt = expect.objectContaining({ code: "STORE_CORRUPT" });

describe("a key is put together", () => {
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

  test("with the identity that was read along, and the uses that its keys share", async () => {
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

  test("is null where its API was deleted", async () => {
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
  test("is read once for a revision, whoever needs it", async () => {
    const { store, catalog } = setUp();
    const key = found({ roles: ["role_e"] });
    await load(catalog, store, key, found({ id: "key_2", roles: ["role_e"] }));
    // The role is read first, then the permissions that it leads to.
    expect(store.reads).toHaveLength(2);
    await loadOne(catalog, store, key);
    expect(store.reads).toHaveLength(2);
  });

  test("is read in two trips at most: roles lead to permissions, permissions to nothing", async () => {
    const { store, catalog } = setUp();
    await loadOne(catalog, store, found({ roles: ["role_e", "role_a"], permissions: ["perm_r"] }));
    expect(store.reads.map((wants) => wants.length)).toEqual([5, 2]);
  });

  test("is one value for all keys that hold the same", async () => {
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

  test("that is known already is answered with at once, without a promise", async () => {
    const { store, catalog } = setUp();
    const key = found({ roles: ["role_e"], permissions: ["perm_b"] });
    const first = await catalog.loadKeys(WORKSPACE_ID, store.revision, [key]);
    expect(catalog.loadKeys(WORKSPACE_ID, store.revision, [key])).toEqual(first);
    expect(catalog.loadKeys(WORKSPACE_ID, store.revision, [])).toEqual([]);
  });

  test("that does not exist is remembered too, until the revision rises", async () => {
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

  test("is read in batches of 5,000 where one page needs more", async () => {
    const { store, catalog } = setUp();
    const roles = Array.from({ length: 5_001 }, (_, index) => `role_${index}`);
    expect((await loadOne(catalog, store, found({ roles }))).roles).toEqual([]);
    expect(store.reads.map((wants) => wants.length)).toEqual([5_000, 3]);
  });
});

describe("a revision", () => {
  test("that rises makes everything be read anew", async () => {
    const { store, catalog } = setUp();
    const key = found({ permissions: ["perm_r"] });
    expect((await loadOne(catalog, store, key)).permissions).toEqual(["docs.read"]);
    store.put(permissionType, permission("perm_r", "docs.see"));
    store.revision += 1;
    const loaded = await loadOne(catalog, store, key);
    expect(loaded).toMatchObject({ permissions: ["docs.see"], revision: 1 });
  });

  test("that rises while it is read ends in null: the keys must be read again", async () => {
    const { store } = setUp();
    const catalog = new Catalog({
      read: async (workspaceId, wants) => {
        store.revision += 1;
        return store.read(workspaceId, wants);
      },
    });
    expect(await catalog.loadKeys(WORKSPACE_ID, 0, [found()])).toBeNull();
  });

  test("that rises between the two trips ends in null, and nothing of two revisions is mixed", async () => {
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

  test("that was overtaken is not answered for, and does not put back what is known", async () => {
    const { store, catalog } = setUp();
    store.revision = 5;
    await loadOne(catalog, store);
    const reads = store.reads.length;
    expect(await catalog.loadKeys(WORKSPACE_ID, 4, [found()])).toBeNull();
    await loadOne(catalog, store);
    expect(store.reads).toHaveLength(reads);
  });

  test("of one workspace says nothing of another", async () => {
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

describe("a damaged record", () => {
  test("of a key concerns that key alone", async () => {
    const { store, catalog } = setUp();
    const damaged = { ...found(), record: { ...found().record, body: undefined } };
    const [first, second] = (await load(catalog, store, damaged, found({ id: "key_2" }))) ?? [];
    expect(first).toEqual(corrupt);
    expect(asLoaded(second).key.id).toBe("key_2");
  });

  test("of a role or a permission concerns only the keys that hold it", async () => {
    const { store, catalog } = setUp();
    store.damage({ kind: "role", id: "role_e" });
    store.damage({ kind: "permission", id: "perm_b" });
    const keys = await load(
      catalog,
      store,
      found({ id: "key_1", roles: ["role_e"] }),
      found({ id: "key_2", roles: ["role_a"] }),
      found({ id: "key_3", permissions: ["perm_b"] }),
      found({ id: "key_4", permissions: ["perm_r"] }),
    );
    expect(keys?.slice(0, 3)).toEqual([corrupt, corrupt, corrupt]);
    expect(asLoaded(keys?.[3]).permissions).toEqual(["docs.read"]);
  });

  test("of an API concerns only its keys", async () => {
    const { store, catalog } = setUp();
    store.put(apiType, { ...api, id: "api_2" });
    store.damage({ kind: "api", id: "api_1" });
    const keys = await load(catalog, store, found(), found({ id: "key_2", apiId: "api_2" }));
    expect(keys?.[0]).toEqual(corrupt);
    expect(asLoaded(keys?.[1]).api.id).toBe("api_2");
  });

  test("of the workspace concerns all of its keys: it might be disabled", async () => {
    const { store, catalog } = setUp();
    store.put(workspaceType, { id: WORKSPACE_ID, name: null, enabled: false, version: 1 });
    store.damage({ kind: "workspace", id: WORKSPACE_ID });
    expect(await load(catalog, store, found())).toEqual([corrupt]);
  });

  test("of an identity concerns the keys that are read along with it", async () => {
    const { store, catalog } = setUp();
    const record = { ...identityType.encode(identityWith()), body: undefined };
    const linked = { record, usage: usageOf(), usedAt: null };
    const keys = await load(
      catalog,
      store,
      found({ identityId: "id_1" }, { linked }),
      found({ id: "key_2" }),
    );
    expect(keys?.[0]).toEqual(corrupt);
    expect(asLoaded(keys?.[1]).identity).toBeNull();
  });

  test("is one whose counter is gone: it must not become unlimited", async () => {
    const { store, catalog } = setUp();
    expect(await load(catalog, store, found({}, { usage: null }))).toEqual([corrupt]);
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

  test("of a revision that has passed are null", async () => {
    const { store, catalog } = setUp();
    store.revision = 1;
    const roles = [role("role_e", "editor", ["perm_w"])];
    expect(await catalog.loadRoles(WORKSPACE_ID, 0, roles)).toBeNull();
  });
});

describe("an API", () => {
  test("is known once a key of it was put together, and not before", async () => {
    const { store, catalog } = setUp();
    expect(catalog.knowsApi(WORKSPACE_ID, "api_1")).toBe(false);
    await loadOne(catalog, store);
    expect(catalog.knowsApi(WORKSPACE_ID, "api_1")).toBe(true);
    expect(catalog.knowsApi("ws_2", "api_1")).toBe(false);
  });

  test("that does not exist is not known", async () => {
    const { store, catalog } = setUp();
    store.remove({ kind: "api", id: "api_1" });
    await load(catalog, store, found());
    expect(catalog.knowsApi(WORKSPACE_ID, "api_1")).toBe(false);
  });
});

describe("the memory of a process", () => {
  test.each([
    { others: 999, isKept: true },
    { others: 1_000, isKept: false },
  ])(
    "holds 1,000 workspaces: after $others others the first is kept: $isKept",
    async ({ others, isKept }) => {
      const { store, catalog } = setUp();
      await loadOne(catalog, store);
      for (let index = 0; index < others; index += 1)
        await catalog.loadKeys(`ws_${index}`, 0, [found()]);
      expect(catalog.knowsApi(WORKSPACE_ID, "api_1")).toBe(isKept);
      expect((await loadOne(catalog, store)).api).toEqual(api);
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
