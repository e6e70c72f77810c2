import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ChangeDescription } from "../audit/entry.js";
import { createRandomPool } from "../lib/random.js";
import { apiType } from "../records/api.js";
import { permissionType, roleType } from "../records/grants.js";
import { identityType } from "../records/identity.js";
import { Transaction } from "../store/transaction.js";
import { contextWith } from "../testing/context.js";
import { identityWith, loadedWith, usageOf } from "../testing/records.js";
import { TestStore } from "../testing/store.js";
import type { GrantItem } from "./keys/grant-input.js";
import { References } from "./references.js";

const NOW = 1_000;
const { api } = loadedWith();

/** A store with one API, the identity `user_1`, the role `anchor` and the permission `docs.read`. */
function setUp(isRetry = false) {
  const store = new TestStore();
  store.put(apiType, api);
  store.put(identityType, identityWith(), usageOf());
  const named = { workspaceId: "ws_default", description: null, createdAt: 1 };
  store.put(roleType, { ...named, id: "role_a", name: "anchor", permissions: [], version: 1 });
  store.put(permissionType, { ...named, id: "perm_a", name: "docs.read" });
  const context = contextWith({}, store);
  const transaction = new Transaction(store, createRandomPool(), "ws_default", isRetry);
  const audit: ChangeDescription[] = [];
  const work = { context, transaction, audit: (change: ChangeDescription) => audit.push(change) };
  const references = new References(work, NOW);
  return { store, context, transaction, references, audit };
}

describe("what an operation refers to", () => {
  test("is read all at once, each record once", async () => {
    const { store, references } = setUp();
    references.needApi("api_1");
    references.needIdentity("user_1");
    references.needIdentity("user_1");
    references.needGrants("role", ["anchor", { name: "anchor", create: true }, { id: "role_a" }]);
    await references.read();
    expect(store.reads).toHaveLength(1);
    expect(store.reads[0]).toMatchObject([
      { kind: "api", id: "api_1" },
      { kind: "identity", index: "externalId", value: "user_1" },
      { kind: "role", index: "name", value: "anchor" },
      { kind: "role", id: "role_a" },
    ]);
  });

  test("is not read at all if there is nothing", async () => {
    const { store, references } = setUp();
    await references.read();
    expect(store.reads).toEqual([]);
  });

  test("must still exist at the commit, in any version", async () => {
    const { store, references, transaction } = setUp();
    references.needIdentity("user_1");
    await references.read();
    await transaction.commit();
    expect(store.changes[0]?.expects).toMatchObject([
      { kind: "identity", id: "id_1", version: "exists" },
    ]);
  });
});

describe("an API", () => {
  test.each([
    { apiId: "api_1", exists: true },
    { apiId: "api_2", exists: false },
  ])("$apiId exists: $exists", async ({ apiId, exists }) => {
    const { references } = setUp();
    references.needApi(apiId);
    await references.read();
    expect(references.hasApi(apiId)).toBe(exists);
  });
});

describe("what this process has found before", () => {
  /** An earlier operation that referred to all records. */
  async function findAll({ store, context }: ReturnType<typeof setUp>): Promise<void> {
    const transaction = new Transaction(store, createRandomPool(), "ws_default", false);
    await needAll(new References({ context, transaction, audit: () => undefined }, NOW)).read();
  }

  function needAll(references: References): References {
    references.needApi("api_1");
    references.needIdentity("user_1");
    references.needGrants("role", ["anchor"]);
    references.needGrants("permission", ["docs.read"]);
    return references;
  }

  test("is not read again, and the commit checks that it still exists", async () => {
    const setup = setUp();
    const { store, transaction, references } = setup;
    await findAll(setup);
    const before = store.reads.length;
    await needAll(references).read();
    expect(store.reads).toHaveLength(before);
    expect(references.hasApi("api_1")).toBe(true);
    expect(references.identityId("user_1")).toBe("id_1");
    expect(references.grantIds("role", ["anchor"])).toEqual(["role_a"]);
    expect(references.grantIds("permission", ["docs.read"])).toEqual(["perm_a"]);
    store.remove({ kind: "role", id: "role_a" });
    expect(await transaction.commit()).toBeNull();
  });

  test("is read with the rest if anything else is needed", async () => {
    const setup = setUp();
    const { store, references } = setup;
    await findAll(setup);
    references.needIdentity("user_2");
    await needAll(references).read();
    expect(store.reads.at(-1)).toHaveLength(5);
  });

  test("is read on a second attempt, and forgotten if it is gone by then", async () => {
    const setup = setUp(true);
    const { store, context, references } = setup;
    await findAll(setup);
    store.remove({ kind: "api", id: "api_1" });
    await needAll(references).read();
    expect(references.hasApi("api_1")).toBe(false);
    expect(context.knownIds.find("ws_default", { kind: "api", id: "api_1" })).toBeNull();
  });

  test("is known in its own workspace only", async () => {
    const setup = setUp();
    await findAll(setup);
    const { knownIds } = setup.context;
    expect(knownIds.find("ws_default", { kind: "role", index: "name", value: "anchor" })).toBe(
      "role_a",
    );
    expect(knownIds.find("ws_2", { kind: "role", index: "name", value: "anchor" })).toBeNull();
  });
});

describe("an identity", () => {
  test("is found by externalId", async () => {
    const { references, audit } = setUp();
    references.needIdentity("user_1");
    await references.read();
    expect(references.identityId("user_1")).toBe("id_1");
    expect(audit).toEqual([]);
  });

  test("that does not exist is created, bare and unlimited, once for all references to it", async () => {
    const { store, references, transaction, audit } = setUp();
    references.needIdentity("user_2");
    await references.read();
    const ids = [references.identityId("user_2"), references.identityId("user_2")];
    expect(new Set(ids).size).toBe(1);
    await transaction.commit();
    const [id = ""] = ids;
    expect(store.get({ kind: "identity", id })).toMatchObject({
      record: { body: { externalId: "user_2", createdAt: NOW } },
      usage: usageOf(null, NOW),
    });
    expect(audit).toEqual([
      {
        type: "identity.created",
        at: NOW,
        resourceId: id,
        after: { externalId: "user_2" },
      },
    ]);
  });

  test("that another process creates meanwhile is no error: the transaction runs again", async () => {
    const { store, references, transaction } = setUp();
    references.needIdentity("user_2");
    await references.read();
    references.identityId("user_2");
    store.put(identityType, identityWith({ id: "id_2", externalId: "user_2" }), usageOf());
    expect(await transaction.commit()).toBeNull();
  });
});

describe("roles and permissions", () => {
  test("are found by id or by name, each once, in the order given", async () => {
    const { references } = setUp();
    const items: GrantItem[] = [{ id: "role_a" }, "anchor", { name: "anchor", create: true }];
    references.needGrants("role", items);
    await references.read();
    expect(references.grantIds("role", items)).toEqual(["role_a"]);
    expect(() => references.refuseMissing()).not.toThrow();
  });

  test("are created only if that is allowed, and once", async () => {
    const { store, references, transaction, audit } = setUp();
    const items: GrantItem[] = [
      { name: "deck", create: true },
      { name: "deck", create: true },
    ];
    references.needGrants("role", items);
    references.needGrants("permission", [{ name: "docs.write", create: true }]);
    await references.read();
    const [roleId = "", ...others] = references.grantIds("role", items);
    expect(others).toEqual([]);
    references.grantIds("permission", [{ name: "docs.write", create: true }]);
    await transaction.commit();
    expect(store.get({ kind: "role", id: roleId })?.record).toMatchObject({
      version: 1,
      body: { name: "deck" },
    });
    expect(audit.map(({ type, after }) => [type, after])).toEqual([
      ["role.created", { name: "deck" }],
      ["permission.created", { name: "docs.write" }],
    ]);
  });

  test("an id is never created, and a name is no id", async () => {
    const { references, audit } = setUp();
    const items: GrantItem[] = [{ id: "role_x", name: "deck", create: true }, "role_a"];
    references.needGrants("role", items);
    await references.read();
    expect(references.grantIds("role", items)).toEqual([]);
    expect(audit).toEqual([]);
    expect(() => references.refuseMissing()).toThrow("roles role_x, role_a");
  });

  test("all missing ones are named in one error, with its reason", async () => {
    const { references } = setUp();
    references.needGrants("role", ["x", "anchor", "y"]);
    references.needGrants("permission", ["p"]);
    await references.read();
    references.grantIds("role", ["x", "anchor", "y", "x"]);
    references.grantIds("permission", ["p"]);
    expect(() => references.refuseMissing()).toThrow(
      expect.objectContaining({
        code: "PRECONDITION_FAILED",
        reason: "missing-grants",
        details: { missing: { roles: ["x", "y"], permissions: ["p"] } },
        message: "these do not exist: roles x, y; permissions p",
      }),
    );
  });

  test("whatever is given, each item is held, created or missing, and nothing else is", async () => {
    const item: fc.Arbitrary<GrantItem> = fc.constantFrom<GrantItem>(
      "anchor",
      "deck",
      { id: "role_a" },
      { id: "role_x" },
      { name: "anchor", create: true },
      { name: "deck", create: true },
      { name: "hull", create: true },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 6 }), async (items) => {
        const { references, audit } = setUp();
        references.needGrants("role", items);
        await references.read();
        const ids = references.grantIds("role", items);
        expect(new Set(ids).size).toBe(ids.length);
        const created = audit.map(({ resourceId }) => resourceId);
        expect(ids.filter((id) => !created.includes(id))).toEqual(
          items.some((one) => ["anchor", "role_a"].includes(labelOf(one))) ? ["role_a"] : [],
        );
        const mayCreate = items.filter((one) => typeof one !== "string" && one.create === true);
        const creatable = new Set(mayCreate.map(labelOf).filter((label) => label !== "anchor"));
        expect(new Set(audit.map(({ after }) => after?.name))).toEqual(creatable);
      }),
    );
  });
});

function labelOf(item: GrantItem): string {
  return typeof item === "string" ? item : (item.id ?? item.name ?? "");
}
