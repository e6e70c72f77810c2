import { interceptStore } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnMemoryOrAll } from "../every-store.js";
import { issue } from "../test-context.js";

const OPERATIONS = [
  "addRoles",
  "setRoles",
  "removeRoles",
  "addPermissions",
  "setPermissions",
  "removePermissions",
] as const;

describeOnMemoryOrAll("roles and permissions of a key", (open) => {
  test("each change returns what it wrote, even if the key is deleted before the answer", async () => {
    const context = open();
    const { latchkey } = context;
    for (const operation of OPERATIONS) {
      const field = operation.endsWith("Roles") ? "roles" : "permissions";
      const idOf = async (name: string) =>
        field === "roles"
          ? (await latchkey.createRole({ name })).roleId
          : (await latchkey.createPermission({ name })).permissionId;
      const held = { name: `${operation}.held`, id: await idOf(`${operation}.held`) };
      const other = { name: `${operation}.other`, id: await idOf(`${operation}.other`) };
      const { keyId } = await issue(context, { [field]: [held.name] });
      const made = { name: `${operation}.made`, create: true };
      const deleting = context.another({
        store: interceptStore(context.store, async ({ method }, run) => {
          const answer = await run();
          if (method === "commit") await latchkey.deleteKey({ keyId });
          return answer;
        }),
      });
      const isRemoval = operation.startsWith("remove");
      const items = isRemoval ? [{ id: held.id }, other.name] : [{ id: other.id }, held.name, made];
      const change = deleting[operation] as unknown as (input: unknown) => Promise<unknown>;
      const answer = await change({ keyId, [field]: items });
      const id = expect.any(String);
      const expected = isRemoval ? [] : [held, { id, name: made.name }, other];
      expect(answer, operation).toEqual({
        [field]: expected.map(({ name, id }) => ({ id, name })),
      });
      await expect(latchkey.getKey({ keyId })).rejects.toMatchObject({ code: "NOT_FOUND" });
    }
  });

  test("records that this process knows only by id are returned with their name", async () => {
    const context = open();
    const { latchkey } = context;
    const { roleId } = await latchkey.createRole({ name: "editor" });
    const [one, other] = [await issue(context), await issue(context)];
    const roles = [{ id: roleId, name: "editor" }];
    expect(await latchkey.addRoles({ keyId: one.keyId, roles: [{ id: roleId }] })).toEqual({
      roles,
    });
    expect(await latchkey.setRoles({ keyId: other.keyId, roles: [{ id: roleId }] })).toEqual({
      roles,
    });
  });
});
