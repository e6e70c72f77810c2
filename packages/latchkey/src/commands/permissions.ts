import { FIELDS } from "../command-line/fields.js";
import { type AddCommand, groupCommand } from "../command-line/help.js";
import { listCommand, operationCommand } from "../command-line/operations.js";

const COMMANDS = [
  operationCommand({
    name: "create",
    text: "create a permission",
    operation: "createPermission",
    args: ["<name>"],
    fields: [FIELDS.description],
    use: "durable",
    print: ({ permissionId }) => [["permissionId", permissionId]],
  }),
  listCommand({
    text: "list the permissions of the workspace",
    page: async (latchkey) => ({ items: await latchkey.listPermissions() }),
    columns: () => [
      { title: "ID", of: ({ id }) => id },
      { title: "NAME", of: ({ name }) => name },
      { title: "DESCRIPTION", of: ({ description }) => description },
    ],
  }),
  operationCommand({
    name: "get",
    text: "show a permission",
    operation: "getPermission",
    args: ["<permissionId>"],
    print: ({ id, name, description }) => [
      ["id", id],
      ["name", name],
      ["description", description],
    ],
  }),
  operationCommand({
    name: "delete",
    text: "delete a permission, and remove it from all keys and roles",
    operation: "deletePermission",
    args: ["<permissionId>"],
    deletes: true,
    print: (_, { permissionId }) => `permission ${permissionId} is deleted`,
  }),
];

/** Adds `latchkey permissions`: the permissions that keys and roles can have. */
export const addPermissions: AddCommand = groupCommand(
  "permissions",
  "create, list, show and delete permissions",
  ["latchkey permissions create docs.read"],
  COMMANDS,
);
