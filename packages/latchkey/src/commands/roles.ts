import type { Command } from "commander";
import { FIELDS } from "../command-line/fields.js";
import { addGroup } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { addList, addOperation, updateText } from "../command-line/operations.js";

/** Adds `latchkey roles`: permissions under one name. */
export function addRoles(program: Command, host: Host): void {
  const roles = addGroup(program, "roles", "create, list, show, change and delete roles", [
    "latchkey roles create editor --permissions docs.read,docs.write",
  ]);
  addOperation(roles, host, {
    name: "create",
    text: "create a role, with permissions that exist",
    operation: "createRole",
    args: ["<name>"],
    fields: [FIELDS.description, FIELDS.permissions],
    use: "lasting",
    print: ({ roleId }) => [["roleId", roleId]],
  });
  addList(roles, host, {
    text: "list the roles of the workspace",
    page: async (latchkey) => ({ items: await latchkey.listRoles() }),
    columns: () => [
      { title: "ID", of: ({ id }) => id },
      { title: "NAME", of: ({ name }) => name },
      {
        title: "PERMISSIONS",
        of: ({ permissions }) => permissions.join(","),
      },
      { title: "DESCRIPTION", of: ({ description }) => description },
    ],
  });
  addOperation(roles, host, {
    name: "get",
    text: "show a role",
    operation: "getRole",
    args: ["<roleId>"],
    print: ({ id, name, description, permissions }) => [
      ["id", id],
      ["name", name],
      ["description", description],
      ["permissions", permissions.join(",")],
    ],
  });
  addOperation(roles, host, {
    name: "update",
    text: "make --permissions all that a role holds; its keys see it at once",
    operation: "setRolePermissions",
    args: ["<roleId>"],
    fields: [FIELDS.permissions],
    print: (_, { roleId }, outcome) => updateText(`role ${roleId}`, outcome),
  });
  addOperation(roles, host, {
    name: "delete",
    text: "delete a role: no key has it any more",
    operation: "deleteRole",
    args: ["<roleId>"],
    deletes: true,
    print: (_, { roleId }) => `role ${roleId} is deleted`,
  });
}
