import { UsageError } from "../command-line/failures.js";
import { CHANGE_OF_USES, FIELDS } from "../command-line/fields.js";
import { type AddCommand, groupCommand } from "../command-line/help.js";
import { identityCells, remainingCells } from "../command-line/key-cells.js";
import { listCommand, operationCommand } from "../command-line/operations.js";

const SETTINGS = [FIELDS.meta, FIELDS.ratelimits, FIELDS.refill];

/** Selects an identity by its id or its external id. */
const WHICH = { args: ["[identityId]"], fields: [FIELDS.externalId] };

const COMMANDS = [
  operationCommand({
    name: "create",
    text: "create an identity for a user, under your own id",
    operation: "createIdentity",
    args: ["<externalId>"],
    fields: [...SETTINGS, FIELDS.firstRemaining],
    use: "durable",
    print: ({ identityId }) => [["identityId", identityId]],
  }),
  listCommand({
    text: "list the identities of the workspace, or search them by a part of their external id",
    fields: [
      {
        flags: "--external-id-contains <text>",
        text: "a part of your own id, ignoring case",
      },
    ],
    page: async (latchkey, input) => {
      const { identities: items, ...page } = await latchkey.listIdentities(input);
      return { items, ...page };
    },
    columns: () => [
      { title: "ID", of: ({ id }) => id },
      { title: "EXTERNAL ID", of: ({ externalId }) => externalId },
      { title: "LIMITS", of: ({ ratelimits }) => ratelimits.map(({ name }) => name).join(",") },
    ],
  }),
  operationCommand({
    name: "get",
    text: "show an identity, by its id or by --external-id",
    operation: "getIdentity",
    ...WHICH,
    print: identityCells,
  }),
  operationCommand({
    name: "update",
    text: "change an identity, by its id or by --external-id; omitted settings stay unchanged",
    operation: "updateIdentity",
    args: WHICH.args,
    fields: [...WHICH.fields, ...SETTINGS, FIELDS.remaining],
    canClear: true,
    print: identityCells,
  }),
  operationCommand({
    name: "update-remaining",
    text: "set, increase or decrease the uses that the keys of an identity share, exact even during verifications",
    operation: "updateRemaining",
    args: WHICH.args,
    fields: [...WHICH.fields, ...CHANGE_OF_USES],
    completed: async (_, { identityId, externalId }) => {
      if ((identityId === undefined) !== (externalId === undefined)) return {};
      throw new UsageError("exactly one of <identityId> and --external-id is required");
    },
    print: remainingCells,
  }),
  operationCommand({
    name: "delete",
    text: "delete an identity; its keys remain without one, unless --keys says otherwise",
    operation: "deleteIdentity",
    args: ["<identityId>"],
    fields: [
      {
        flags: "--keys <what>",
        text: "what happens to its keys (default: unlink)",
        words: ["unlink", "disable", "delete"],
      },
    ],
    deletes: true,
    announce: async (_, { identityId, keys }) =>
      keys === undefined || keys === "unlink"
        ? null
        : `this deletes identity ${identityId}, and ${keys}s all of its keys`,
    print: ({ keys, disabledKeys, deletedKeys }, { identityId }) =>
      `identity ${identityId} is deleted${keys === "unlinked" ? "" : `, ${disabledKeys ?? deletedKeys} of its keys are ${keys}`}`,
  }),
  operationCommand({
    name: "erase",
    text: "delete an identity with its keys, and overwrite what the audit log says about them",
    operation: "eraseIdentity",
    ...WHICH,
    announce: async (_, { identityId, externalId }) =>
      `this erases ${identityId ?? externalId}: the identity, all of its keys, and its names and metadata in the audit log`,
    print: ({ erasedIdentities, deletedKeys, erasedEvents }) => [
      ["erasedIdentities", erasedIdentities],
      ["deletedKeys", deletedKeys],
      ["erasedEvents", erasedEvents],
    ],
  }),
];

/** Adds `latchkey identities`: the users that keys belong to. */
export const addIdentities: AddCommand = groupCommand(
  "identities",
  "create, list, show, change and delete identities, the users that keys belong to",
  [
    "latchkey identities create user_1 --ratelimits writes=20/1m:auto",
    "latchkey identities update-remaining --external-id user_1 --op increment --value 500",
    "latchkey identities delete <identityId> --keys disable",
    "latchkey identities erase --external-id user_1",
  ],
  COMMANDS,
);
