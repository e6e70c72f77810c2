import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";

describeOnEveryStore("the ceiling of an API on permissions, and roles", (open) => {
  /** An API with a ceiling and one without, and a key in each with a role that goes beyond the ceiling. */
  async function openTwo() {
    const context = open();
    const { latchkey } = context;
    await latchkey.ensurePermissions(["docs.read", "docs.*", "maps.read", "admin"]);
    const { roleId } = await latchkey.ensureRole({
      name: "editor",
      permissions: ["docs.*", "maps.read"],
    });
    const ceilings = { permissions: ["docs.*"] };
    const { apiId } = await latchkey.createApi({ name: "docs", ceilings });
    const { apiId: freeId } = await latchkey.createApi({ name: "maps" });
    const bound = await latchkey.createKey({ apiId, roles: ["editor"] });
    const free = await latchkey.createKey({ apiId: freeId, roles: ["editor"] });
    const code = async (key: string, permissions: string, process = latchkey) =>
      (await process.verifyKey({ key, authorization: { permissions } })).code;
    return { context, latchkey, apiId, roleId, bound, free, code };
  }

  test("a key may have a role that goes beyond the ceiling, but not the permissions beyond it", async () => {
    const { latchkey, bound, free, code } = await openTwo();
    expect(await code(free.key, "maps.read")).toBe("VALID");
    expect(await code(bound.key, "docs.read")).toBe("VALID");
    expect(await code(bound.key, "docs.delete")).toBe("VALID");
    const authorization = { permissions: { and: ["docs.read", "maps.read"] } };
    expect(await latchkey.verifyKey({ key: bound.key, authorization })).toMatchObject({
      code: "INSUFFICIENT_PERMISSIONS",
      permissions: ["docs.*"],
      missing: "maps.read",
    });
    expect(await latchkey.getKey({ keyId: bound.keyId })).toMatchObject({
      roles: ["editor"],
      permissions: ["docs.*"],
    });
    const found = await latchkey.listKeys({ permission: "maps.read" });
    expect(found.keys.map(({ id }) => id)).toEqual([free.keyId]);
  });

  test("a role that gets more permissions later does not lift its keys above the ceiling", async () => {
    const { latchkey, roleId, bound, free, code } = await openTwo();
    expect(await code(bound.key, "admin")).toBe("INSUFFICIENT_PERMISSIONS");
    await latchkey.setRolePermissions({ roleId, permissions: ["docs.*", "admin"] });
    expect(await code(bound.key, "admin")).toBe("INSUFFICIENT_PERMISSIONS");
    expect(await code(free.key, "admin")).toBe("VALID");
  });

  test("a ceiling that is set, changed or removed holds for existing keys, in every process", async () => {
    const { context, latchkey, apiId, bound, code } = await openTwo();
    const other = context.another();
    expect(await code(bound.key, "docs.delete", other)).toBe("VALID");
    // A role has a wildcard, the ceiling one of the names below it.
    await latchkey.updateApi({ apiId, ceilings: { permissions: ["docs.read"] } });
    expect(await code(bound.key, "docs.delete", other)).toBe("INSUFFICIENT_PERMISSIONS");
    expect(await code(bound.key, "docs.read", other)).toBe("VALID");
    await latchkey.updateApi({ apiId, ceilings: null });
    expect(await code(bound.key, "maps.read", other)).toBe("VALID");
  });

  test("what a key was given directly before there was a ceiling stays", async () => {
    const { latchkey, apiId, code } = await openTwo();
    await latchkey.updateApi({ apiId, ceilings: null });
    const { key } = await latchkey.createKey({ apiId, roles: ["editor"], permissions: ["admin"] });
    await latchkey.updateApi({ apiId, ceilings: { permissions: ["docs.*"] } });
    expect(await code(key, "admin")).toBe("VALID");
    expect(await code(key, "maps.read")).toBe("INSUFFICIENT_PERMISSIONS");
  });
});
