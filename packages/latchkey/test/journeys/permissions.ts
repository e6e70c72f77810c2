import { expect } from "vitest";
import { expectRefused, issue } from "../test-context.js";
import type { Journey } from "./journey.js";

const asking = { authorization: { permissions: "tides.read" } };

/** Roles and permissions, and those of a key: create…, get…, list…, delete…, setRolePermissions, add…, set…, remove…. */
export const PERMISSIONS: Journey = {
  resource: "roles and permissions",
  title:
    "are made, given to keys and taken away, and every change is seen by warm keys of every process",
  async run(context) {
    const { latchkey } = context;
    const other = context.another();
    const read = await latchkey.createPermission({ name: "tides.read", description: "may look" });
    const write = await latchkey.createPermission({ name: "tides.write" });
    await expectRefused("CONFLICT", [other.createPermission({ name: "tides.read" })]);
    expect(await other.getPermission(read)).toMatchObject({ description: "may look" });
    const names = (await other.listPermissions()).map(({ name }) => name);
    expect(names).toEqual(["tides.read", "tides.write"]);
    const pilot = await latchkey.createRole({ name: "pilot", permissions: ["tides.read"] });
    const guest = await latchkey.createRole({ name: "guest" });
    expect(await other.getRole(pilot)).toMatchObject({ permissions: ["tides.read"] });
    expect(await other.listRoles()).toMatchObject([{ name: "pilot" }, { name: "guest" }]);
    await expectRefused("PRECONDITION_FAILED", [
      latchkey.createRole({ name: "diver", permissions: ["nothing"] }),
      latchkey.setRolePermissions({ ...pilot, permissions: ["nothing"] }),
    ]);

    const { keyId, key } = await issue(context);
    const held = async () => {
      const { code, ...verdict } = await other.verifyKey({ key, ...asking });
      const { roles, permissions } = verdict as Record<string, unknown>;
      return [code, roles, permissions];
    };
    expect(await held()).toEqual(["INSUFFICIENT_PERMISSIONS", [], []]);
    await latchkey.addRoles({ keyId, roles: ["pilot", { id: guest.roleId }] });
    expect(await held()).toEqual(["VALID", ["guest", "pilot"], ["tides.read"]]);
    await latchkey.removeRoles({ keyId, roles: ["guest"] });
    expect(await held()).toEqual(["VALID", ["pilot"], ["tides.read"]]);
    await latchkey.setRolePermissions({ ...pilot, permissions: ["tides.write"] });
    expect(await held()).toEqual(["INSUFFICIENT_PERMISSIONS", ["pilot"], ["tides.write"]]);
    await latchkey.addPermissions({ keyId, permissions: [{ id: read.permissionId }] });
    expect(await held()).toEqual(["VALID", ["pilot"], ["tides.read", "tides.write"]]);
    await latchkey.setRoles({ keyId, roles: [] });
    await latchkey.setPermissions({ keyId, permissions: ["tides.write"] });
    expect(await held()).toEqual(["INSUFFICIENT_PERMISSIONS", [], ["tides.write"]]);
    await latchkey.removePermissions({ keyId, permissions: ["tides.write"] });
    expect(await held()).toEqual(["INSUFFICIENT_PERMISSIONS", [], []]);

    const all = { roles: ["pilot"], permissions: ["tides.read", "tides.write"] };
    await other.updateKey({ keyId, ...all });
    expect(await held()).toEqual(["VALID", all.roles, all.permissions]);
    await latchkey.deletePermission(read);
    expect(await held()).toEqual(["INSUFFICIENT_PERMISSIONS", ["pilot"], ["tides.write"]]);
    await latchkey.deleteRole(pilot);
    expect(await held()).toEqual(["INSUFFICIENT_PERMISSIONS", [], ["tides.write"]]);
    await other.createPermission({ name: "tides.read" });
    expect(await held()).toEqual(["INSUFFICIENT_PERMISSIONS", [], ["tides.write"]]);

    const elsewhere = latchkey.workspace("ws_other");
    await expectRefused("NOT_FOUND", [
      other.getPermission(read),
      other.deletePermission(read),
      elsewhere.getPermission(write),
      other.getRole(pilot),
      other.deleteRole(pilot),
      other.setRolePermissions({ ...pilot, permissions: [] }),
      elsewhere.getRole(guest),
    ]);
    const roles = ["pilot"];
    const permissions = ["nothing"];
    await expectRefused("PRECONDITION_FAILED", [
      other.addRoles({ keyId, roles }),
      other.setRoles({ keyId, roles }),
      other.addPermissions({ keyId, permissions }),
      other.setPermissions({ keyId, permissions }),
    ]);
    await expectRefused("NOT_FOUND", [
      other.removeRoles({ keyId: "key_unknown", roles: ["guest"] }),
      other.removePermissions({ keyId: "key_unknown", permissions: ["tides.write"] }),
    ]);
  },
};
