import { beforeEach, describe, expect, test } from "vitest";
import { openService, type TestService } from "../testing/open-service.js";

let service: TestService;

beforeEach(async () => {
  service = await openService();
});

const list = (query: object = {}) => service.ok("identities.listIdentities", query);

async function createMany(count: number): Promise<string[]> {
  const created: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const input = { externalId: `user_${index}` };
    created.push((await service.ok("identities.createIdentity", input)).identityId);
  }
  return created;
}

const ids = (page: { identities: { id: string }[] }) => page.identities.map(({ id }) => id);

describe("spec 4.3: GET /v1/identities.listIdentities, its query", () => {
  test("spec 4.3 environment: accepted and not used", async () => {
    const created = await createMany(2);
    for (const environment of ["default", "live", "", "null"])
      expect(ids(await list({ environment }))).toEqual(created);
  });

  test("spec 4.3 limit: 1 to 100, 100 unless given", async () => {
    const created = await createMany(101);
    expect(ids(await list())).toEqual(created.slice(0, 100));
    expect(ids(await list({ limit: 100 }))).toHaveLength(100);
    expect(ids(await list({ limit: 1 }))).toEqual(created.slice(0, 1));
    for (const limit of ["0", "101", "-1", "1.5", "", "null", "ten"]) {
      const { status, body } = await service.call("identities.listIdentities", { limit });
      expect(status).toBe(400);
      expect(body.error.issues).toEqual([
        { path: "limit", message: "must be a whole number from 1 to 100" },
      ]);
    }
  });

  test("spec 4.3 cursor: fetches the next page; a damaged one and one of another list are refused", async () => {
    const created = await createMany(5);
    const first = await list({ limit: 2 });
    const second = await list({ limit: 2, cursor: first.cursor });
    const third = await list({ limit: 2, cursor: second.cursor });
    expect([first, second, third].flatMap(ids)).toEqual(created);

    const { apiId } = await service.ok("apis.createApi", { name: "payments" });
    await service.ok("keys.createKey", { apiId });
    await service.ok("keys.createKey", { apiId });
    const keys = await service.ok("apis.listKeys", { apiId, limit: 1 });
    for (const cursor of [keys.cursor, "", "x", first.cursor.slice(1), `${first.cursor}=`])
      expect((await service.call("identities.listIdentities", { cursor })).status).toBe(400);
  });
});

describe("spec 4.3: GET /v1/identities.listIdentities, its answer", () => {
  test("spec 4.3 identities: id, externalId and ratelimits of each, in the order of creation", async () => {
    const ratelimits = [{ name: "requests", limit: 2, duration: 60_000 }];
    const first = await service.ok("identities.createIdentity", {
      externalId: "b",
      meta: { plan: "pro" },
      ratelimits,
    });
    const second = await service.ok("identities.createIdentity", { externalId: "a" });
    expect((await list()).identities).toEqual([
      { id: first.identityId, externalId: "b", ratelimits },
      { id: second.identityId, externalId: "a", ratelimits: [] },
    ]);
  });

  test("spec 4.3 total: the exact number of identities, whatever the page", async () => {
    expect(await list()).toEqual({ identities: [], total: 0 });
    await createMany(3);
    expect((await list({ limit: 1 })).total).toBe(3);
    expect((await list({ environment: "live" })).total).toBe(3);
  });

  test("spec 4.3 response cursor: absent when nothing follows, also when the last page is full", async () => {
    await createMany(4);
    expect(await list({ limit: 3 })).toHaveProperty("cursor");
    expect(await list({ limit: 4 })).not.toHaveProperty("cursor");
    const { cursor } = await list({ limit: 2 });
    expect(await list({ limit: 2, cursor })).not.toHaveProperty("cursor");
  });
});
