import { beforeEach, describe, expect, test } from "vitest";
import { openService, type TestService } from "../testing/open-service.js";

let service: TestService;
let keyId: string;

beforeEach(async () => {
  service = await openService();
  const { apiId } = await service.ok("apis.createApi", { name: "payments" });
  ({ keyId } = await service.ok("keys.createKey", { apiId }));
});

describe.each([
  { field: "roles", kind: "Role", idField: "roleId" },
  { field: "permissions", kind: "Permission", idField: "permissionId" },
])("$field of a key", ({ field, kind, idField }) => {
  const change = (verb: string, ...items: unknown[]) =>
    service.call(`keys.${verb}${kind}s`, { keyId, [field]: items });
  const make = async (name: string): Promise<string> =>
    (await service.ok(`permissions.create${kind}`, { name }))[idField];

  test("are added, set and removed, and each call returns those of the key afterwards", async () => {
    const [docs, tiles] = [await make("docs"), await make("tiles")];
    const both = [
      { id: docs, name: "docs" },
      { id: tiles, name: "tiles" },
    ];
    const bodies = [
      await change("add", { name: "tiles" }, { id: docs }),
      await change("remove", "docs", { id: docs }),
      await change("set", "docs", { name: "tiles", create: true }),
      await change("set"),
    ].map(({ body }) => body);
    expect(bodies).toEqual([
      { [field]: both },
      { [field]: [both[1]] },
      { [field]: both },
      { [field]: [] },
    ]);
    await change("add", "tiles");
    expect((await service.ok("keys.getKey", { keyId }))[field]).toEqual(["tiles"]);
  });

  test("are created with create; without it, missing ones are a 412", async () => {
    const { body } = await change("add", { name: "fresh", create: true });
    expect(body[field]).toMatchObject([{ name: "fresh" }]);
    expect(await service.ok(`permissions.list${kind}s`)).toEqual([
      expect.objectContaining(body[field][0]),
    ]);
    for (const verb of ["add", "set", "remove"]) {
      const refused = await change(verb, "ghost.a", { name: "ghost.b" });
      expect([refused.status, refused.body.error.code]).toEqual([412, "PRECONDITION_FAILED"]);
      expect(refused.body.error.message).toMatch(/ghost\.a, ghost\.b/);
    }
  });

  test("an item without id and name is 400, named by its position", async () => {
    await make("docs");
    for (const verb of ["add", "set", "remove"])
      for (const item of [{}, { create: true }, { title: "docs" }, 7, null]) {
        const { status, body } = await change(verb, "docs", item);
        expect([verb, item, status]).toEqual([verb, item, 400]);
        expect(body.error.issues[0].path).toMatch(new RegExp(`^${field}\\.1`));
      }
  });

  test("of an unknown key are 404", async () => {
    await make("docs");
    for (const verb of ["add", "set", "remove"]) {
      const input = { keyId: "key_none", [field]: ["docs"] };
      expect((await service.call(`keys.${verb}${kind}s`, input)).status).toBe(404);
    }
  });

  test("need the permission to create with create, whether they exist or not", async () => {
    await make("docs");
    const lower = kind.toLowerCase();
    const token = await service.rootKey(
      `rbac.*.add_${lower}_to_key`,
      `rbac.*.remove_${lower}_from_key`,
    );
    for (const verb of ["add", "set", "remove"]) {
      const call = (item: unknown) =>
        service.call(`keys.${verb}${kind}s`, { keyId, [field]: [item] }, { token });
      expect((await call("docs")).status).toBe(200);
      const creating = await call({ name: "docs", create: true });
      expect([verb, creating.status]).toEqual([verb, verb === "remove" ? 200 : 403]);
    }
  });
});
