import { expect } from "vitest";
import { expectRefused } from "../test-context.js";
import type { Journey } from "./journey.js";

/** ensureApi, ensurePermissions, ensureRole, and createKey with `create`. */
export const SET_UP: Journey = {
  resource: "set-up",
  title: "can be run again, and by several processes at once, and makes each thing once",
  async run(context) {
    const { latchkey } = context;
    const other = context.another();
    const setUp = async (by: typeof latchkey) => {
      const { apiId } = await by.ensureApi({ name: "tide tables" });
      const { created } = await by.ensurePermissions(["tides.read", "tides.write"]);
      const role = await by.ensureRole({
        name: "pilot",
        permissions: ["tides.read", "gates.open"],
      });
      return { apiId, created, role };
    };
    const [mine, theirs] = await Promise.all([setUp(latchkey), setUp(other)]);
    expect(mine.apiId).toBe(theirs.apiId);
    expect([...mine.created, ...theirs.created].sort()).toEqual(["tides.read", "tides.write"]);
    expect(mine.role.roleId).toBe(theirs.role.roleId);
    expect([mine.role.created, theirs.role.created].sort()).toEqual([false, true]);
    const { roleId } = mine.role;
    expect(await other.getRole({ roleId })).toMatchObject({
      permissions: ["gates.open", "tides.read"],
    });
    const before = (await latchkey.listAuditEvents()).events.length;
    expect(await setUp(other)).toEqual({
      apiId: mine.apiId,
      created: [],
      role: { roleId, created: false },
    });
    expect((await latchkey.listAuditEvents()).events).toHaveLength(before);

    const { apiId } = mine;
    const grants = { roles: ["pilot", "guest"], permissions: ["tides.read", "buoys.move"] };
    await expectRefused("PRECONDITION_FAILED", [latchkey.createKey({ apiId, ...grants })]);
    const keys = await Promise.all([
      latchkey.createKey({ apiId, ...grants, create: true }),
      other.createKey({ apiId, ...grants, create: true }),
    ]);
    for (const { key } of keys)
      expect(await other.verifyKey({ key })).toMatchObject({
        valid: true,
        roles: ["guest", "pilot"],
        permissions: ["buoys.move", "gates.open", "tides.read"],
      });
    expect((await latchkey.listRoles()).map(({ name }) => name).sort()).toEqual(["guest", "pilot"]);

    // The other process deletes each first, so that the cache of this one must not count.
    const permissions = await other.listPermissions();
    for (const { id: permissionId } of permissions) await other.deletePermission({ permissionId });
    expect(await latchkey.ensurePermissions(["tides.read"])).toEqual({ created: ["tides.read"] });
    await latchkey.ensureRole({ name: "pilot", permissions: ["tides.read"] });
    expect(await other.getRole({ roleId })).toMatchObject({ permissions: ["tides.read"] });
    await other.deleteRole({ roleId });
    const again = await latchkey.ensureRole({ name: "pilot", permissions: [] });
    expect(again).toMatchObject({ created: true });

    await expectRefused("BAD_REQUEST", [
      latchkey.ensureApi({ name: "ab" }),
      latchkey.ensurePermissions(["a b"]),
      latchkey.ensureRole({ name: "pilot" } as never),
    ]);
  },
};
