import type { ApiView, Latchkey } from "@latchkey/core";
import { FIELDS } from "../command-line/fields.js";
import { type AddCommand, groupCommand } from "../command-line/help.js";
import { isId } from "../command-line/named-ids.js";
import {
  type Input,
  listCommand,
  operationCommand,
  updateText,
} from "../command-line/operations.js";
import type { Cell } from "../command-line/output.js";
import { CLI_ACTOR } from "../command-line/store-options.js";

const SETTINGS = [
  FIELDS.name,
  FIELDS.deleteProtection,
  FIELDS.ipWhitelist,
  FIELDS.defaults,
  FIELDS.ceilings,
];

const COMMANDS = [
  operationCommand({
    name: "create",
    text: "create an API, a space of keys",
    operation: "createApi",
    fields: SETTINGS,
    use: "durable",
    print: ({ apiId }) => [["apiId", apiId]],
  }),
  operationCommand({
    name: "ensure",
    text: "print the id of the API with this name; create the API if there is none",
    operation: "ensureApi",
    args: ["<name>"],
    use: "durable",
    print: ({ apiId, created }) => [
      ["apiId", apiId],
      ["created", created],
    ],
  }),
  listCommand({
    text: "list the APIs of the workspace",
    page: async (latchkey, input) => {
      const { apis: items, ...page } = await latchkey.listApis(input);
      return { items, ...page };
    },
    columns: () => [
      { title: "ID", of: ({ id }) => id },
      { title: "NAME", of: ({ name }) => name },
      { title: "PROTECTED", of: ({ deleteProtection }) => (deleteProtection ? "yes" : "no") },
    ],
  }),
  operationCommand({
    name: "get",
    text: "show an API",
    operation: "getApi",
    args: ["<apiId>"],
    print: apiFields,
  }),
  operationCommand({
    name: "update",
    text: "change an API; omitted settings stay unchanged",
    operation: "updateApi",
    args: ["<apiId>"],
    fields: SETTINGS,
    canClear: true,
    print: (_, { apiId }, outcome) => updateText(`API ${apiId}`, outcome),
  }),
  operationCommand({
    name: "delete",
    text: "delete an API and all its keys",
    operation: "deleteApi",
    args: ["<apiId>"],
    deletes: true,
    completed: async (latchkey, { apiId }) => halfDeleted(latchkey, String(apiId)),
    print: (_, { apiId }) => `API ${apiId} and its keys are deleted`,
  }),
];

/** Maximum entries of the audit log that are read for a name that no API has. */
const MOST_ENTRIES = 100_000;

/**
 * The id of the API of this name whose deletion may have been interrupted. The API is deleted first, so its name no longer leads to the
 * keys that are left.
 */
async function halfDeleted(latchkey: Latchkey, name: string): Promise<Input> {
  if (isId(name, "api_")) return {};
  let read = 0;
  for await (const { type, resourceId, changes } of latchkey.auditEvents({ actor: CLI_ACTOR })) {
    const hadName = changes.some(({ field, before }) => field === "name" && before === name);
    if (type === "api.deleted" && hadName) return { apiId: resourceId };
    read += 1;
    if (read === MOST_ENTRIES) break;
  }
  return {};
}

/** Adds `latchkey apis`: the key spaces of a workspace. */
export const addApis: AddCommand = groupCommand(
  "apis",
  "create, list, show, change and delete APIs",
  ["latchkey apis create --name payments --store sqlite:./keys.db"],
  COMMANDS,
);

function apiFields(api: ApiView): readonly (readonly [string, Cell])[] {
  return [
    ["id", api.id],
    ["name", api.name],
    ["workspaceId", api.workspaceId],
    ["deleteProtection", api.deleteProtection],
    ["ipWhitelist", api.ipWhitelist?.join(",")],
    ["defaults", api.defaults && JSON.stringify(api.defaults)],
    ["ceilings", api.ceilings && JSON.stringify(api.ceilings)],
  ];
}
