import { beforeEach, describe, expect, test } from "vitest";
import { openService, type TestService } from "../testing/open-service.js";

let service: TestService;

beforeEach(async () => {
  service = await openService();
});

const refuse = async (name: string, input: object) => {
  const { status, body } = await service.call(name, input);
  return [status, body.error.code];
};

describe("permissions", () => {
  test("are created, read, listed as a bare array, and deleted", async () => {
    const described = { name: "docs.read", description: "may read" };
    const { permissionId } = await service.ok("permissions.createPermission", described);
    await service.ok("permissions.createPermission", { name: "docs.write" });
    const shown = { id: permissionId, ...described };
    expect(await service.ok("permissions.getPermission", { permissionId })).toEqual(shown);
    expect(await service.ok("permissions.listPermissions")).toEqual([
      shown,
      { id: expect.stringMatching(/^perm_/), name: "docs.write" },
    ]);
    expect(await service.ok("permissions.deletePermission", { permissionId })).toEqual({});
    expect(await service.ok("permissions.listPermissions")).toMatchObject([{ name: "docs.write" }]);
    for (const name of ["permissions.getPermission", "permissions.deletePermission"])
      expect(await refuse(name, { permissionId })).toEqual([404, "NOT_FOUND"]);
  });

  test("have unique names, of allowed characters", async () => {
    await service.ok("permissions.createPermission", { name: "docs.read" });
    for (const what of ["Permission", "Role"]) {
      const name = `permissions.create${what}`;
      if (what === "Role") await service.ok(name, { name: "docs.read" });
      expect(await refuse(name, { name: "docs.read" })).toEqual([409, "CONFLICT"]);
      for (const wrong of ["", "a b", "a/b", "ä", "x".repeat(513), null, 1])
        expect(await refuse(name, { name: wrong })).toEqual([400, "BAD_REQUEST"]);
      await service.ok(name, { name: "x".repeat(512) });
    }
  });
});

describe("roles", () => {
  test("are created with permissions, read, listed as a bare array, and deleted", async () => {
    for (const name of ["docs.write", "docs.read"])
      await service.ok("permissions.createPermission", { name });
    const { roleId } = await service.ok("permissions.createRole", {
      name: "editor",
      description: "edits",
      permissions: ["docs.write", "docs.read"],
    });
    const shown = {
      id: roleId,
      name: "editor",
      description: "edits",
      permissions: ["docs.read", "docs.write"],
    };
    expect(await service.ok("permissions.getRole", { roleId })).toEqual(shown);
    expect(await service.ok("permissions.listRoles")).toEqual([shown]);
    expect(await service.ok("permissions.deleteRole", { roleId })).toEqual({});
    expect(await service.ok("permissions.listRoles")).toEqual([]);
    for (const name of ["permissions.getRole", "permissions.deleteRole"])
      expect(await refuse(name, { roleId })).toEqual([404, "NOT_FOUND"]);
  });

  test("that change take effect at the next verification of every key that has them", async () => {
    for (const name of ["docs.write", "docs.read"])
      await service.ok("permissions.createPermission", { name });
    const { roleId } = await service.ok("permissions.createRole", { name: "editor" });
    const { apiId } = await service.ok("apis.createApi", { name: "payments" });
    const { key } = await service.ok("keys.createKey", { apiId, roles: ["editor"] });
    const asked = { key, authorization: { permissions: "docs.read" } };
    expect((await service.ok("keys.verifyKey", asked)).code).toBe("INSUFFICIENT_PERMISSIONS");
    const input = { roleId, permissions: ["docs.read"] };
    expect(await service.ok("permissions.setRolePermissions", input)).toEqual({});
    expect((await service.ok("keys.verifyKey", asked)).code).toBe("VALID");
  });

  test("cannot get permissions that do not exist; the refusal names all of them", async () => {
    const { roleId } = await service.ok("permissions.createRole", { name: "editor" });
    const permissions = ["ghost.a", "ghost.b"];
    for (const [name, input] of [
      ["permissions.setRolePermissions", { roleId, permissions }],
      ["permissions.createRole", { name: "other", permissions }],
    ] as const) {
      const { status, body } = await service.call(name, input);
      expect([status, body.error.code]).toEqual([412, "PRECONDITION_FAILED"]);
      expect(body.error.message).toContain("ghost.a, ghost.b");
    }
    expect(await service.ok("permissions.listRoles")).toHaveLength(1);
    const unknown = { roleId: "role_none", permissions: [] };
    expect(await refuse("permissions.setRolePermissions", unknown)).toEqual([404, "NOT_FOUND"]);
  });

  test("without permissions need no permission to add any", async () => {
    const token = await service.rootKey("rbac.*.create_role");
    const make = (name: string, permissions?: string[]) =>
      service.call("permissions.createRole", { name, permissions }, { token });
    expect((await make("bare")).status).toBe(200);
    expect((await make("empty", [])).status).toBe(200);
    expect((await make("full", ["docs.read"])).status).toBe(403);
  });
});
