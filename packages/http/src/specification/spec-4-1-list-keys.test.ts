import { beforeEach, describe, expect, test } from "vitest";
import { openService, START, type TestService } from "../testing/open-service.js";

let service: TestService;
let apiId: string;

beforeEach(async () => {
  service = await openService();
  ({ apiId } = await service.ok("apis.createApi", { name: "payments" }));
});

const create = (fields: object = {}) => service.ok("keys.createKey", { apiId, ...fields });
const list = (query: object = {}) => service.ok("apis.listKeys", { apiId, ...query });
const refuse = async (query: object) => {
  const { status, body } = await service.call("apis.listKeys", { apiId, ...query });
  expect(status).toBe(400);
  return body.error.issues.map((issue: { path: string }) => issue.path);
};
const ids = (page: { keys: { id: string }[] }) => page.keys.map(({ id }) => id);

async function createMany(count: number): Promise<string[]> {
  const created: string[] = [];
  for (let index = 0; index < count; index += 1) created.push((await create()).keyId);
  return created;
}

describe("spec 4.1: GET /v1/apis.listKeys, its query", () => {
  test("spec 4.1 apiId: required, at least 1 character, names the API whose keys are listed", async () => {
    const { keyId } = await create();
    const other = await service.ok("apis.createApi", { name: "other" });
    await service.ok("keys.createKey", { apiId: other.apiId });
    expect(ids(await list())).toEqual([keyId]);
    expect(await refuse({ apiId: "" })).toEqual(["apiId"]);
    const missing = await service.call("apis.listKeys");
    expect(missing.status).toBe(400);
    expect(missing.body.error.issues).toEqual([{ path: "apiId", message: "is required" }]);
    const unknown = await service.call("apis.listKeys", { apiId: "api_unknown" });
    expect([unknown.status, unknown.body.error.code]).toEqual([404, "NOT_FOUND"]);
  });

  test("spec 4.1 limit: 1 to 100, 100 unless given", async () => {
    const created = await createMany(101);
    expect(ids(await list())).toEqual(created.slice(0, 100));
    expect(ids(await list({ limit: 100 }))).toHaveLength(100);
    expect(ids(await list({ limit: 1 }))).toEqual(created.slice(0, 1));
    for (const limit of ["0", "101", "-1", "1e2", "0x10", "1.0", "+1", " 1", "1_0", "١", "01"])
      expect(await refuse({ limit })).toEqual(["limit"]);
    for (const limit of ["NaN", "Infinity", "", "null", "9007199254740993", "1".repeat(400)])
      expect(await refuse({ limit })).toEqual(["limit"]);
  });

  test("spec 4.1 cursor: fetches the next page, opaque, and of no other list", async () => {
    const created = await createMany(5);
    const first = await list({ limit: 2 });
    const second = await list({ limit: 2, cursor: first.cursor });
    const third = await list({ limit: 2, cursor: second.cursor });
    expect([first, second, third].flatMap(ids)).toEqual(created);
    expect(first.cursor).toMatch(/^[A-Za-z0-9_-]+$/);

    const other = await service.ok("apis.createApi", { name: "other" });
    await service.ok("identities.createIdentity", { externalId: "a" });
    await service.ok("identities.createIdentity", { externalId: "b" });
    const identities = await service.ok("identities.listIdentities", { limit: 1 });
    const good: string = first.cursor;
    for (const cursor of ["", "x", good.slice(0, -1), `${good}=`, ` ${good}`, "😀"])
      expect(await refuse({ cursor })).toEqual(["cursor"]);
    expect(await refuse({ cursor: "A".repeat(1_000_000) })).toEqual(["cursor"]);
    expect(await refuse({ cursor: identities.cursor })).toEqual(["cursor"]);
    expect(await refuse({ apiId: other.apiId, cursor: good })).toEqual(["cursor"]);
  });

  test("spec 4.1 ownerId: deprecated alias of the externalId filter, at least 1 character", async () => {
    const { keyId } = await create({ externalId: "user_1" });
    await create({ externalId: "user_2" });
    expect(ids(await list({ ownerId: "user_1" }))).toEqual([keyId]);
    expect(await refuse({ ownerId: "" })).toEqual(["ownerId"]);
    expect(ids(await list({ ownerId: "user_2", externalId: "user_1" }))).toEqual([keyId]);
  });

  test("spec 4.1 externalId: lists only keys whose externalId matches, at least 1 character", async () => {
    const plus = await create({ externalId: "a+b" });
    const blank = await create({ externalId: "a b" });
    await create();
    expect(ids(await list({ externalId: "a+b" }))).toEqual([plus.keyId]);
    expect(ids(await list({ externalId: "a b" }))).toEqual([blank.keyId]);
    expect(await list({ externalId: "nobody" })).toEqual({ keys: [], total: 3 });
    expect(await refuse({ externalId: "" })).toEqual(["externalId"]);
  });

  test("spec 4.1 decrypt: a boolean or null; true returns the raw key of recoverable keys", async () => {
    const { key } = await create({ recoverable: true });
    for (const decrypt of ["true", "1"])
      expect((await list({ decrypt })).keys[0].plaintext).toBe(key);
    for (const decrypt of ["false", "0", "null", ""])
      expect((await list({ decrypt })).keys[0]).not.toHaveProperty("plaintext");
    expect((await list()).keys[0]).not.toHaveProperty("plaintext");
    for (const decrypt of ["yes", "TRUE", "True", "2", "on", " true"])
      expect(await refuse({ decrypt })).toEqual(["decrypt"]);
  });

  test("spec 4.1 revalidateKeysCache: a boolean or null; a just-created key appears at once either way", async () => {
    const { keyId } = await create();
    for (const revalidateKeysCache of ["true", "1", "false", "0", "null", ""])
      expect(ids(await list({ revalidateKeysCache }))).toEqual([keyId]);
    expect(await refuse({ revalidateKeysCache: "maybe" })).toEqual(["revalidateKeysCache"]);
  });
});

describe("spec 4.1: GET /v1/apis.listKeys, its answer", () => {
  test("spec 4.1 keys: key objects, field for field, in the order of their creation", async () => {
    await service.latchkey.createPermission({ name: "docs.read" });
    await service.latchkey.createRole({ name: "reader", permissions: ["docs.read"] });
    const full = await create({
      prefix: "pay",
      name: "server 1",
      externalId: "user_1",
      meta: { plan: "pro" },
      roles: ["reader"],
      permissions: ["docs.read"],
      expires: START + 60_000,
      remaining: 10,
      refill: { interval: "daily", amount: 10 },
      ratelimit: { type: "consistent", limit: 5, duration: 1_000 },
      recoverable: true,
      environment: "live",
    });
    const bare = await create();
    const { id: identityId } = await service.ok("identities.getIdentity", { externalId: "user_1" });
    const { keys } = await list({ decrypt: true });
    const limit = { async: expect.any(Boolean), type: "consistent", limit: 5, duration: 1_000 };
    const always = {
      workspaceId: "ws_default",
      apiId,
      createdAt: START,
      enabled: true,
      start: expect.any(String),
    };
    expect(keys).toEqual([
      {
        ...always,
        id: full.keyId,
        name: "server 1",
        ownerId: "user_1",
        meta: { plan: "pro" },
        expires: START + 60_000,
        remaining: 10,
        refill: { interval: "daily", amount: 10 },
        ratelimit: limit,
        // Beside the specification: all limits by name, the one above among them.
        ratelimits: [{ name: "default", autoApply: true, ...limit }],
        roles: ["reader"],
        permissions: ["docs.read"],
        plaintext: full.key,
        environment: "live",
        identity: { id: identityId, externalId: "user_1", meta: {} },
      },
      { ...always, id: bare.keyId, roles: [], permissions: [] },
    ]);
  });

  test("spec 4.1 total: all keys of the API, whatever the page and the filter", async () => {
    expect(await list()).toEqual({ keys: [], total: 0 });
    const [first = ""] = await createMany(3);
    await create({ externalId: "user_1" });
    expect((await list({ limit: 1 })).total).toBe(4);
    expect((await list({ externalId: "user_1" })).total).toBe(4);
    await service.ok("keys.deleteKey", { keyId: first });
    expect((await list()).total).toBe(3);
  });

  test("spec 4.1 response cursor: absent when nothing follows, also when the last page is full", async () => {
    await createMany(4);
    expect(await list({ limit: 3 })).toHaveProperty("cursor");
    expect(await list({ limit: 4 })).not.toHaveProperty("cursor");
    expect(await list({ limit: 5 })).not.toHaveProperty("cursor");
    const { cursor } = await list({ limit: 2 });
    expect(await list({ limit: 2, cursor })).not.toHaveProperty("cursor");
  });
});
