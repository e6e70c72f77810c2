import type { LatchkeyEvent } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnMemory, issue, NOON, rejectionOf, type TestContext } from "../test-context.js";

describeOnMemory("permissions", (open) => {
  test("are shown and listed in the order of their creation", async () => {
    const { latchkey } = open();
    expect(await latchkey.listPermissions()).toEqual([]);
    const write = await latchkey.createPermission({ name: "tides.write", description: "may set" });
    const read = await latchkey.createPermission({ name: "tides.read" });
    const shown = [
      { id: write.permissionId, name: "tides.write", description: "may set" },
      { id: read.permissionId, name: "tides.read" },
    ];
    expect(await latchkey.listPermissions()).toEqual(shown);
    expect(await latchkey.getPermission(write)).toEqual(shown[0]);
    expect(await latchkey.getPermission(read)).toEqual(shown[1]);
  });

  test("that are deleted disappear from keys and roles, even from cached ones, and free their name", async () => {
    const context = open();
    const { latchkey } = context;
    const { permissionId } = await latchkey.createPermission({ name: "tides.read" });
    await latchkey.createPermission({ name: "tides.write" });
    const permissions = ["tides.read", "tides.write"];
    const { roleId } = await latchkey.createRole({ name: "pilot", permissions });
    const direct = await issue(context, { permissions });
    const through = await issue(context, { roles: ["pilot"] });
    const other = context.another();
    const asking = { authorization: { permissions: "tides.read" } };
    for (const { key } of [direct, through])
      expect(await other.verifyKey({ key, ...asking })).toMatchObject({ valid: true, permissions });

    expect(await latchkey.deletePermission({ permissionId })).toEqual({});
    for (const { key } of [direct, through])
      expect(await other.verifyKey({ key, ...asking })).toMatchObject({
        code: "INSUFFICIENT_PERMISSIONS",
        permissions: ["tides.write"],
      });
    expect(await latchkey.getRole({ roleId })).toMatchObject({ permissions: ["tides.write"] });
    expect(await latchkey.listPermissions()).toMatchObject([{ name: "tides.write" }]);

    const again = await latchkey.createPermission({ name: "tides.read" });
    expect(again.permissionId).not.toBe(permissionId);
    expect(await other.verifyKey({ key: direct.key, ...asking })).toMatchObject({ valid: false });
  });

  test("that are unknown, deleted or of another workspace are not found", async () => {
    const { latchkey } = open();
    const { permissionId } = await latchkey.createPermission({ name: "tides.read" });
    const other = latchkey.workspace("ws_other");
    expect(await other.listPermissions()).toEqual([]);
    for (const call of [
      other.getPermission({ permissionId }),
      other.deletePermission({ permissionId }),
      latchkey.getPermission({ permissionId: "perm_none" }),
      latchkey.deletePermission({ permissionId: "perm_none" }),
    ])
      expect(await rejectionOf(call)).toMatchObject({ code: "NOT_FOUND" });
    await latchkey.deletePermission({ permissionId });
    for (const call of [
      latchkey.getPermission({ permissionId }),
      latchkey.deletePermission({ permissionId }),
    ])
      expect(await rejectionOf(call)).toMatchObject({ code: "NOT_FOUND" });
  });

  test("are deleted by only one of several racing calls", async () => {
    const context = open();
    const { permissionId } = await context.latchkey.createPermission({ name: "tides.read" });
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => context.another().deletePermission({ permissionId })),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });
});

describeOnMemory("roles", (open) => {
  async function pilot({ latchkey }: TestContext) {
    for (const name of ["tides.read", "tides.write", "gates.open"])
      await latchkey.createPermission({ name });
    return latchkey.createRole({
      name: "pilot",
      description: "steers",
      permissions: ["tides.write", "tides.read"],
    });
  }

  test("are shown and listed with the names of their permissions, in ascending order", async () => {
    const context = open();
    expect(await context.latchkey.listRoles()).toEqual([]);
    const { roleId } = await pilot(context);
    const bare = await context.latchkey.createRole({ name: "guest" });
    const shown = {
      id: roleId,
      name: "pilot",
      description: "steers",
      permissions: ["tides.read", "tides.write"],
    };
    expect(await context.latchkey.getRole({ roleId })).toEqual(shown);
    expect(await context.latchkey.listRoles()).toEqual([
      shown,
      { id: bare.roleId, name: "guest", permissions: [] },
    ]);
  });

  test("that are deleted disappear from keys, even from cached ones, and their permissions stay", async () => {
    const context = open();
    const { roleId } = await pilot(context);
    const { key, keyId } = await issue(context, { roles: ["pilot"], permissions: ["gates.open"] });
    const other = context.another();
    expect(await other.verifyKey({ key })).toMatchObject({ roles: ["pilot"] });
    expect(await context.latchkey.deleteRole({ roleId })).toEqual({});
    expect(await other.verifyKey({ key })).toMatchObject({
      valid: true,
      roles: [],
      permissions: ["gates.open"],
    });
    expect(await context.latchkey.getKey({ keyId })).toMatchObject({ roles: [] });
    expect(await context.latchkey.listPermissions()).toHaveLength(3);
    await context.latchkey.createRole({ name: "pilot" });
    expect(await other.verifyKey({ key })).toMatchObject({ roles: [] });
  });

  test("that are unknown, deleted or of another workspace are not found", async () => {
    const context = open();
    const { roleId } = await pilot(context);
    const other = context.latchkey.workspace("ws_other");
    expect(await other.listRoles()).toEqual([]);
    for (const call of [
      other.getRole({ roleId }),
      other.deleteRole({ roleId }),
      other.setRolePermissions({ roleId, permissions: [] }),
      context.latchkey.getRole({ roleId: "role_none" }),
      context.latchkey.deleteRole({ roleId: "role_none" }),
      context.latchkey.setRolePermissions({ roleId: "role_none", permissions: [] }),
    ])
      expect(await rejectionOf(call)).toMatchObject({ code: "NOT_FOUND" });
    expect(await context.latchkey.getRole({ roleId })).toMatchObject({
      permissions: ["tides.read", "tides.write"],
    });
  });

  test("apply new permissions from the next verification of every key that has them", async () => {
    const context = open();
    const { roleId } = await pilot(context);
    const { key } = await issue(context, { roles: ["pilot"] });
    const other = context.another();
    expect(await other.verifyKey({ key })).toMatchObject({
      permissions: ["tides.read", "tides.write"],
    });
    const permissions = ["gates.open", "gates.open", "tides.read"];
    expect(await context.latchkey.setRolePermissions({ roleId, permissions })).toEqual({});
    expect(await other.verifyKey({ key })).toMatchObject({
      permissions: ["gates.open", "tides.read"],
    });
    await context.latchkey.setRolePermissions({ roleId, permissions: [] });
    expect(await other.verifyKey({ key })).toMatchObject({ roles: ["pilot"], permissions: [] });
  });

  test("do not change if a permission does not exist; all missing ones are named", async () => {
    const context = open();
    const { roleId } = await pilot(context);
    await context.latchkey.workspace("ws_other").createPermission({ name: "theirs" });
    const error = await rejectionOf(
      context.latchkey.setRolePermissions({
        roleId,
        permissions: ["ghost", "gates.open", "theirs"],
      }),
    );
    expect(error).toMatchObject({ code: "PRECONDITION_FAILED" });
    expect(error.message).toMatch(/permissions ghost, theirs$/);
    expect(await context.latchkey.getRole({ roleId })).toMatchObject({
      permissions: ["tides.read", "tides.write"],
    });
  });

  test("have at most 1,000 permissions, each name with 1 to 512 allowed characters", async () => {
    const context = open();
    const { roleId } = await pilot(context);
    const names = (count: number) => Array.from({ length: count }, () => "tides.read");
    await context.latchkey.setRolePermissions({ roleId, permissions: names(1_000) });
    expect(await context.latchkey.getRole({ roleId })).toMatchObject({
      permissions: ["tides.read"],
    });
    for (const permissions of [names(1_001), ["a b"], [""], ["x".repeat(513)], null, undefined]) {
      const error = await rejectionOf(
        context.latchkey.setRolePermissions({ roleId, permissions: permissions as never }),
      );
      expect(error).toMatchObject({ code: "BAD_REQUEST" });
    }
  });

  test("that are changed concurrently end with one of the given states, and so do their keys", async () => {
    const context = open();
    const { roleId } = await pilot(context);
    const { key } = await issue(context, { roles: ["pilot"] });
    const wanted = [["tides.read"], ["tides.write"], ["gates.open"], ["gates.open", "tides.read"]];
    await Promise.all(
      wanted.map((permissions) => context.another().setRolePermissions({ roleId, permissions })),
    );
    const { permissions } = await context.latchkey.getRole({ roleId });
    expect(wanted).toContainEqual(permissions);
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ permissions });
  });

  test("and permissions are in events and in the audit log, with their changes", async () => {
    const events: LatchkeyEvent[] = [];
    const context = open({ onEvent: (event) => events.push(event) });
    const { roleId } = await pilot(context);
    const [{ id: permissionId } = { id: "" }] = await context.latchkey.listPermissions();
    events.length = 0;
    const acting = context.latchkey.actingAs("root_1");
    await acting.setRolePermissions({ roleId, permissions: ["tides.write", "gates.open"] });
    await acting.deletePermission({ permissionId });
    await acting.deleteRole({ roleId });
    const expected = [
      {
        type: "role.updated",
        resourceId: roleId,
        changes: [
          {
            field: "permissions",
            before: ["tides.read", "tides.write"],
            after: ["gates.open", "tides.write"],
          },
        ],
      },
      {
        type: "permission.deleted",
        resourceId: permissionId,
        changes: [{ field: "name", before: "tides.read" }],
      },
      {
        type: "role.deleted",
        resourceId: roleId,
        changes: [
          { field: "name", before: "pilot" },
          { field: "description", before: "steers" },
          { field: "permissions", before: ["gates.open", "tides.write"] },
        ],
      },
    ];
    expect(events).toMatchObject(
      expected.map((change) => ({ ...change, at: NOON, actor: "root_1" })),
    );
    const { events: entries } = await context.latchkey.listAuditEvents({ limit: 3 });
    expect(entries.map(({ type }) => type)).toEqual(expected.map(({ type }) => type).reverse());
  });

  test("without a change cause no entry in the log", async () => {
    const context = open();
    const { roleId } = await pilot(context);
    const count = async () => {
      return (await context.latchkey.listAuditEvents()).events.length;
    };
    const before = await count();
    await rejectionOf(context.latchkey.setRolePermissions({ roleId, permissions: ["ghost"] }));
    await rejectionOf(context.latchkey.deleteRole({ roleId: "role_none" }));
    await rejectionOf(context.latchkey.deletePermission({ permissionId: "perm_none" }));
    expect(await count()).toBe(before);
  });
});
