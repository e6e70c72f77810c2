import { beforeEach, describe, expect, test } from "vitest";
import { openService, START, type TestService } from "../testing/open-service.js";

let service: TestService;
let apiId: string;

beforeEach(async () => {
  service = await openService();
  ({ apiId } = await service.ok("apis.createApi", { name: "payments" }));
  await service.ok("identities.createIdentity", { externalId: "user_1" });
});

/** The four operations of the specification, each with an input that succeeds. */
const four = () =>
  [
    ["apis.listKeys", { apiId }],
    ["keys.createKey", { apiId }],
    ["identities.listIdentities", {}],
    ["identities.updateIdentity", { externalId: "user_1", meta: {} }],
  ] as const;

describe("spec 5: authentication", () => {
  test("spec 5 rule 1: Authorization: Bearer <token> carries the caller's token", async () => {
    for (const [name, input] of four())
      expect((await service.call(name, input, { token: service.root })).status).toBe(200);
  });

  test("spec 5 rule 2: the header is required on all four operations", async () => {
    for (const [name, input] of four()) {
      const { status, headers, body } = await service.call(name, input, { token: null });
      expect([name, status, body.error.code]).toEqual([name, 401, "UNAUTHORIZED"]);
      expect(headers.get("www-authenticate")).toBe("Bearer");
    }
  });
});

describe("spec 7: errors", () => {
  test("spec 7 rule 1: successful calls return status 200 with a JSON body", async () => {
    for (const [name, input] of four()) {
      const { status, headers, body } = await service.call(name, input);
      expect([name, status, typeof body]).toEqual([name, 200, "object"]);
      expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    }
  });

  test("spec 7 rule 2: a role or permission that does not exist makes createKey fail", async () => {
    for (const fields of [{ roles: ["ghost"] }, { permissions: ["ghost"] }]) {
      const { status, body } = await service.call("keys.createKey", { apiId, ...fields });
      expect([status, body.error.code]).toEqual([412, "PRECONDITION_FAILED"]);
      expect(body.error.message).toContain("ghost");
    }
    expect((await service.ok("apis.listKeys", { apiId })).total).toBe(0);
  });
});

describe("spec 8: limits", () => {
  const status = async (name: string, input: object) => (await service.call(name, input)).status;

  test("spec 8 listKeys limit: 1 to 100", async () => {
    const at = (limit: number) => status("apis.listKeys", { apiId, limit });
    expect([await at(0), await at(1), await at(100), await at(101)]).toEqual([400, 200, 200, 400]);
  });

  test("spec 8 listIdentities limit: 1 to 100", async () => {
    const at = (limit: number) => status("identities.listIdentities", { limit });
    expect([await at(0), await at(1), await at(100), await at(101)]).toEqual([400, 200, 200, 400]);
  });

  test("spec 8 createKey prefix length: at most 16", async () => {
    const at = (length: number) => status("keys.createKey", { apiId, prefix: "p".repeat(length) });
    expect([await at(0), await at(16), await at(17)]).toEqual([200, 200, 400]);
  });

  test("spec 8 createKey byteLength: 16 to 255", async () => {
    const at = (byteLength: number) => status("keys.createKey", { apiId, byteLength });
    expect([await at(15), await at(16), await at(255), await at(256)]).toEqual([
      400, 200, 200, 400,
    ]);
  });

  test("spec 8 createKey environment length: at most 256", async () => {
    const at = (length: number) =>
      status("keys.createKey", { apiId, environment: "e".repeat(length) });
    expect([await at(0), await at(256), await at(257)]).toEqual([200, 200, 400]);
  });

  test("spec 8 listKeys total: exact at once, although it might lag", async () => {
    for (const total of [1, 2, 3]) {
      await service.ok("keys.createKey", { apiId });
      expect((await service.ok("apis.listKeys", { apiId, limit: 1 })).total).toBe(total);
    }
  });

  test("spec 8 minimum length: apiId, externalId, ownerId and identityId have at least 1 character", async () => {
    expect(await status("apis.listKeys", { apiId: "" })).toBe(400);
    expect(await status("apis.listKeys", { apiId, externalId: "" })).toBe(400);
    expect(await status("apis.listKeys", { apiId, ownerId: "" })).toBe(400);
    expect(await status("apis.listKeys", { apiId, externalId: "u", ownerId: "u" })).toBe(200);
    expect(await status("identities.updateIdentity", { identityId: "" })).toBe(400);
    expect(await status("identities.updateIdentity", { externalId: "" })).toBe(400);
  });
});

describe("spec 9: versioning", () => {
  test("spec 9 path: the version is part of the path, and no other version has these paths", async () => {
    const get = (path: string) =>
      service.send(
        new Request(`http://keys.test${path}?apiId=${apiId}`, {
          headers: { authorization: `Bearer ${service.root}` },
        }),
      );
    expect((await get("/v1/apis.listKeys")).status).toBe(200);
    for (const path of [
      "/apis.listKeys",
      "/v3/apis.listKeys",
      "/V1/apis.listKeys",
      "/v1.apis.listKeys",
    ])
      expect((await get(path)).status).toBe(404);
  });

  test("spec 9 apis.listKeys Dec 06 2023: the operation is there", async () => {
    expect(await service.ok("apis.listKeys", { apiId })).toEqual({ keys: [], total: 0 });
  });

  test("spec 9 apis.listKeys May 15 2024: updatedAt is returned", async () => {
    const { keyId } = await service.ok("keys.createKey", { apiId });
    await service.ok("keys.updateKey", { keyId, name: "renamed" });
    expect((await service.ok("apis.listKeys", { apiId })).keys[0].updatedAt).toBe(START);
  });

  test("spec 9 apis.listKeys Aug 01 2024 identities: identities are returned", async () => {
    await service.ok("keys.createKey", { apiId, externalId: "user_1" });
    const { keys } = await service.ok("apis.listKeys", { apiId });
    expect(keys[0].identity).toMatchObject({ externalId: "user_1" });
  });

  test("spec 9 apis.listKeys Aug 01 2024 filter: keys can be filtered by externalId", async () => {
    const { keyId } = await service.ok("keys.createKey", { apiId, externalId: "user_1" });
    await service.ok("keys.createKey", { apiId });
    const { keys } = await service.ok("apis.listKeys", { apiId, externalId: "user_1" });
    expect(keys.map(({ id }: { id: string }) => id)).toEqual([keyId]);
  });

  test("spec 9 keys.createKey Dec 06 2023: the operation is there", async () => {
    expect((await service.call("keys.createKey", { apiId })).status).toBe(200);
  });

  test("spec 9 identities.listIdentities Jul 17 2024: the operation is there", async () => {
    expect((await service.ok("identities.listIdentities")).total).toBe(1);
  });

  test("spec 9 identities.updateIdentity Jul 17 2024: the operation is there", async () => {
    const answer = await service.ok("identities.updateIdentity", { externalId: "user_1" });
    expect(answer.externalId).toBe("user_1");
  });

  test("spec 9 ownerId: deprecated in favour of externalId, in requests and responses alike", async () => {
    const { keyId } = await service.ok("keys.createKey", { apiId, ownerId: "user_9" });
    const { keys } = await service.ok("apis.listKeys", { apiId, ownerId: "user_9" });
    expect(keys).toMatchObject([
      { id: keyId, ownerId: "user_9", identity: { externalId: "user_9" } },
    ]);
  });
});
