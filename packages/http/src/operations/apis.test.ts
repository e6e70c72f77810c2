import { beforeEach, describe, expect, test } from "vitest";
import { openService, type TestService } from "../testing/open-service.js";

let service: TestService;
let apiId: string;

beforeEach(async () => {
  service = await openService();
  ({ apiId } = await service.ok("apis.createApi", { name: "payments" }));
});

describe("apis.createApi", () => {
  test("accepts a protection and an allow-list, which apis.getApi returns", async () => {
    const fields = { deleteProtection: true, ipWhitelist: ["192.0.2.0/24"] };
    const made = await service.ok("apis.createApi", { name: "harbour", ...fields });
    expect(await service.ok("apis.getApi", { apiId: made.apiId })).toEqual({
      id: made.apiId,
      name: "harbour",
      workspaceId: "ws_default",
      ...fields,
    });
  });
});

describe("apis.listApis", () => {
  test("lists in pages", async () => {
    const { apiId: second } = await service.ok("apis.createApi", { name: "harbour" });
    const page = await service.ok("apis.listApis", { limit: 1 });
    expect(page).toEqual({
      apis: [{ id: apiId, name: "payments", workspaceId: "ws_default" }],
      total: 2,
      cursor: expect.any(String),
    });
    const { cursor } = page;
    expect(await service.ok("apis.listApis", { limit: 1, cursor })).toEqual({
      apis: [{ id: second, name: "harbour", workspaceId: "ws_default" }],
      total: 2,
    });
  });

  test("refuses a cursor of another workspace, and an invalid limit", async () => {
    await service.ok("apis.createApi", { name: "harbour" });
    const { cursor } = await service.ok("apis.listApis", { limit: 1 });
    const theirs = service.latchkey.workspace("ws_other");
    const { key: token } = await theirs.createRootKey({ permissions: ["*"] });
    expect((await service.call("apis.listApis", { cursor }, { token })).status).toBe(400);
    for (const limit of ["0", "101", "1.5", "ten", ""])
      expect((await service.call("apis.listApis", { limit })).status).toBe(400);
  });
});

describe("apis.updateApi", () => {
  test("changes an API, and returns {}", async () => {
    const fields = { name: "billing", deleteProtection: true, ipWhitelist: ["2001:DB8::/32"] };
    expect(await service.ok("apis.updateApi", { apiId, ...fields })).toEqual({});
    expect(await service.ok("apis.getApi", { apiId })).toMatchObject({
      ...fields,
      ipWhitelist: ["2001:db8::/32"],
    });
    await service.ok("apis.updateApi", { apiId, ipWhitelist: null, deleteProtection: false });
    expect(await service.ok("apis.getApi", { apiId })).toEqual({
      id: apiId,
      name: "billing",
      workspaceId: "ws_default",
    });
  });

  test("reports every wrong entry by its position, and never the entry itself", async () => {
    const ipWhitelist = ["192.0.2.0/24", "192.0.2.1/24", "hunter2"];
    const { status, body, text } = await service.call("apis.updateApi", { apiId, ipWhitelist });
    expect(status).toBe(400);
    expect(body.error.issues.map(({ path }: { path: string }) => path)).toEqual([
      "ipWhitelist.1",
      "ipWhitelist.2",
    ]);
    expect(text).not.toContain("hunter2");
  });
});

test("deleting a protected API is 412 DELETE_PROTECTED until the protection is removed", async () => {
  await service.ok("apis.updateApi", { apiId, deleteProtection: true });
  const { status, body } = await service.call("apis.deleteApi", { apiId });
  expect([status, body.error.code]).toEqual([412, "DELETE_PROTECTED"]);
  await service.ok("apis.updateApi", { apiId, deleteProtection: false });
  expect(await service.ok("apis.deleteApi", { apiId })).toEqual({});
});

describe("keys.verifyKey, of an API with an allow-list", () => {
  test("checks the address in the input, not that of the request", async () => {
    const { key } = await service.ok("keys.createKey", { apiId });
    await service.ok("apis.updateApi", { apiId, ipWhitelist: ["192.0.2.0/24"] });
    const codeOf = async (input: object, headers = {}) =>
      (await service.ok("keys.verifyKey", { key, ...input }, { headers })).code;
    expect(await codeOf({ ipAddress: "192.0.2.7" })).toBe("VALID");
    expect(await codeOf({ ipAddress: "::ffff:192.0.2.7" })).toBe("VALID");
    expect(await codeOf({ ipAddress: "192.0.3.7" })).toBe("FORBIDDEN");
    expect(await codeOf({})).toBe("FORBIDDEN");
    expect(await codeOf({}, { "x-forwarded-for": "192.0.2.7" })).toBe("FORBIDDEN");
  });

  test("is 400 for a malformed address", async () => {
    const { key } = await service.ok("keys.createKey", { apiId });
    const { status, body } = await service.call("keys.verifyKey", { key, ipAddress: "192.0.2" });
    expect([status, body.error.issues[0].path]).toEqual([400, "ipAddress"]);
  });
});
