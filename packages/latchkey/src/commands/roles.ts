import { FIELDS } from "../command-line/fields.js";
import { type AddCommand, groupCommand } from "../command-line/help.js";
import { listCommand, operationCommand, updateText } from "../command-line/operations.js";

const COMMANDS = [
  operationCommand({
    name: "create",
    text: "create a role with existing permissions",
    operation: "createRole",
    args: ["<name>"],
    fields: [FIELDS.description, FIELDS.permissions],
    use: "durable",
    print: ({ roleId }) => [["roleId", roleId]],
  }),
  operationCommand({
    name: "ensure",
    text: "replace the permissions of the role with this name; create what does not exist",
    operation: "ensureRole",
    args: ["<name>"],
    fields: [FIELDS.permissions],
    use: "durable",
    print: ({ roleId, created }) => [
      ["roleId", roleId],
      ["created", created],
    ],
  }),
  listCommand({
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
  }),
  operationCommand({
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
  }),
  operationCommand({
    name: "update",
    text: "replace the permissions of a role; its keys get them at once",
    operation: "setRolePermissions",
    args: ["<roleId>"],
    fields: [FIELDS.permissions],
    print: (_, { roleId }, outcome) => updateText(`role ${roleId}`, outcome),
  }),
  operationCommand({
    name: "delete",
    text: "delete a role, and remove it from all keys",
    operation: "deleteRole",
    args: ["<roleId>"],
    deletes: true,
    print: (_, { roleId }) => `role ${roleId} is deleted`,
  }),
];

/** Adds `latchkey roles`: permissions under one name. */
export const addRoles: AddCommand = groupCommand(
  "roles",
  "create, list, show, change and delete roles",
  ["latchkey roles create editor --permissions docs.read,docs.write"],
  COMMANDS,
);
