import { beforeEach, describe, expect, test } from "vitest";
import { openService, START, type TestService } from "../testing/open-service.js";

let service: TestService;
let apiId: string;

beforeEach(async () => {
  service = await openService();
  ({ apiId } = await service.ok("apis.createApi", { name: "payments" }));
});

const create = async (fields: object): Promise<string> =>
  (await service.ok("keys.createKey", { apiId, ...fields })).keyId;

async function find(name: string, query: object): Promise<string[]> {
  const { keys } = await service.ok(name, query);
  return keys.map(({ id }: { readonly id: string }) => id);
}

describe("keys.listKeys", () => {
  test("finds the keys of all APIs, of one API, or of a user, without a total", async () => {
    const one = await create({ externalId: "user_1" });
    const { apiId: other } = await service.ok("apis.createApi", { name: "maps" });
    const two = await create({ apiId: other, externalId: "user_1" });
    const three = await create({ apiId: other });
    expect(await find("keys.listKeys", {})).toEqual([one, two, three]);
    expect(await find("keys.listKeys", { externalId: "user_1" })).toEqual([one, two]);
    const { id: identityId } = await service.ok("identities.getIdentity", { externalId: "user_1" });
    expect(await find("keys.listKeys", { identityId, apiId: other })).toEqual([two]);
    expect(Object.keys(await service.ok("keys.listKeys"))).toEqual(["keys"]);
    expect(Object.keys(await service.ok("keys.listKeys", { apiId }))).toEqual(["keys", "total"]);
  });

  test.each(["keys.listKeys", "apis.listKeys"])(
    "%s reads numbers, booleans and lists with commas from the query",
    async (name) => {
      const one = await create({ tags: ["eu", "billing"], expires: START + 1_000 });
      const two = await create({
        ...{ tags: ["eu"], enabled: false },
        ...{ name: "North Gate", prefix: "pay_live" },
      });
      for (const [query, expected] of [
        [{ tags: "eu" }, [one, two]],
        [{ tags: "billing,eu" }, [one]],
        [{ tags: "" }, [one, two]],
        [{ enabled: false }, [two]],
        [{ enabled: "1" }, [one]],
        [{ expiresBefore: START + 1_001 }, [one]],
        [{ expiresAfter: START + 1_001 }, []],
        [{ nameContains: "north gate" }, [two]],
        [{ start: "pay_l" }, [two]],
        [{ start: "pay_live_…" }, [two]],
        [{ start: "pay_live_0*******" }, []],
        [{ usedBefore: 0, orderBy: "expires", order: "desc" }, [two, one]],
      ] as const) {
        const page = await service.ok(name, { apiId, ...query });
        const ids = page.keys.map(({ id }: { readonly id: string }) => id);
        expect([query, ids, page.scanned]).toEqual([query, expected, 2]);
      }
    },
  );

  test.each([
    ["tags=eu&tags=us", "tags"],
    ["tags=eu,", "tags.1"],
    ["expiresBefore=soon", "expiresBefore"],
    ["expiresBefore=-1", "expiresBefore"],
    ["enabled=maybe", "enabled"],
    ["orderBy=name", "orderBy"],
    ["externalId=a&identityId=b", "identityId"],
    ["cursor=abc", "cursor"],
  ])("refuses %s by its name", async (query, path) => {
    const { status, body } = await service.call(`keys.listKeys?${query}`);
    expect([status, body.error.issues.map((issue: { path: string }) => issue.path)]).toEqual([
      400,
      [path],
    ]);
  });

  test("a cursor is valid only with the same filters, and an order needs an API or a user", async () => {
    for (let made = 0; made < 3; made += 1) await create({ name: "gate" });
    const { cursor } = await service.ok("keys.listKeys", { nameContains: "gate", limit: 1 });
    const rest = { nameContains: "gate", limit: 2, cursor };
    expect(await find("keys.listKeys", rest)).toHaveLength(2);
    expect((await service.call("keys.listKeys", { cursor })).status).toBe(400);
    const { status, body } = await service.call("keys.listKeys", { orderBy: "expires" });
    expect([status, body.error.code]).toEqual([412, "PRECONDITION_FAILED"]);
  });

  test("a token for one API lists only the keys of that API", async () => {
    const { key: token } = await service.latchkey.createRootKey({
      permissions: [`api.${apiId}.read_key`, `api.${apiId}.read_api`],
    });
    const statusOf = async (query: object) =>
      (await service.call("keys.listKeys", query, { token })).status;
    await create({ externalId: "user_1" });
    expect(await statusOf({ apiId, externalId: "user_1" })).toBe(200);
    for (const query of [{}, { externalId: "user_1" }, { apiId: "api_other" }])
      expect(await statusOf(query)).toBe(403);
  });
});
