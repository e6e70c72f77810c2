import { describe, expect, test } from "vitest";
import { apiType } from "../records/api.js";
import { identityType } from "../records/identity.js";
import { workspaceType } from "../records/workspace.js";
import { asLoaded, found, load, catalogSetup as setUp } from "../testing/catalog.js";
import { identityWith, loadedWith, usageOf } from "../testing/records.js";

const WORKSPACE_ID = "ws_default";
const { api } = loadedWith();
const corrupt = expect.objectContaining({ code: "STORE_CORRUPT" });

describe("a damaged record", () => {
  test("of a key concerns that key alone", async () => {
    const { store, catalog } = setUp();
    const damaged = { ...found(), record: { ...found().record, body: undefined } };
    const [first, second] = (await load(catalog, store, damaged, found({ id: "key_2" }))) ?? [];
    expect(first).toEqual(corrupt);
    expect(asLoaded(second).key.id).toBe("key_2");
  });

  test("of a role or a permission affects only the keys that hold it", async () => {
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

  test("of an API affects only its keys", async () => {
    const { store, catalog } = setUp();
    store.put(apiType, { ...api, id: "api_2" });
    store.damage({ kind: "api", id: "api_1" });
    const keys = await load(catalog, store, found(), found({ id: "key_2", apiId: "api_2" }));
    expect(keys?.[0]).toEqual(corrupt);
    expect(asLoaded(keys?.[1]).api.id).toBe("api_2");
  });

  test("of the ceiling of an API on permissions affects its keys: they might get too much", async () => {
    for (const permissions of [null, "docs.*", [1]]) {
      const { store, catalog } = setUp();
      store.put(apiType, { ...api, id: "api_1", ceilings: { permissions } });
      expect(await load(catalog, store, found({ roles: ["role_a"] }))).toEqual([corrupt]);
    }
  });

  test("of the workspace affects all of its keys: it might be disabled", async () => {
    const { store, catalog } = setUp();
    store.put(workspaceType, { id: WORKSPACE_ID, name: null, enabled: false, version: 1 });
    store.damage({ kind: "workspace", id: WORKSPACE_ID });
    expect(await load(catalog, store, found())).toEqual([corrupt]);
  });

  test("of an identity affects the keys that it is read along with", async () => {
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

  test("is also one whose counter is gone: it must not become unlimited", async () => {
    const { store, catalog } = setUp();
    expect(await load(catalog, store, found({}, { usage: null }))).toEqual([corrupt]);
    const [key] = (await load(catalog, store, found({}, { usage: null }))) ?? [];
    expect(key).toMatchObject({ message: expect.stringContaining("counter of key key_1") });
  });
});
