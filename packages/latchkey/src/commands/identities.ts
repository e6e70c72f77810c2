import type { Command } from "commander";
import { FIELDS } from "../command-line/fields.js";
import { addGroup } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { identityCells } from "../command-line/key-cells.js";
import { addList, addOperation } from "../command-line/operations.js";

/** Adds `latchkey identities`: the users that keys belong to. */
export function addIdentities(program: Command, host: Host): void {
  const identities = addGroup(
    program,
    "identities",
    "create, list, show, change and delete identities, the users that keys belong to",
    ["latchkey identities create user_1 --ratelimits writes=20/1m:auto"],
  );
  const settings = [FIELDS.meta, FIELDS.ratelimits, FIELDS.refill];
  const which = { args: ["[identityId]"], fields: [FIELDS.externalId] };
  addOperation(identities, host, {
    name: "create",
    text: "create an identity under your own id of a user",
    operation: "createIdentity",
    args: ["<externalId>"],
    fields: [...settings, FIELDS.firstRemaining],
    use: "lasting",
    print: ({ identityId }) => [["identityId", identityId]],
  });
  addList(identities, host, {
    text: "list the identities of the workspace",
    page: async (latchkey, input) => {
      const page = await latchkey.listIdentities(input);
      return { items: page.identities, cursor: page.cursor };
    },
    columns: () => [
      { title: "ID", of: ({ id }) => id },
      { title: "EXTERNAL ID", of: ({ externalId }) => externalId },
      { title: "LIMITS", of: ({ ratelimits }) => ratelimits.map(({ name }) => name).join(",") },
    ],
  });
  addOperation(identities, host, {
    name: "get",
    text: "show an identity, by its id or by --external-id",
    operation: "getIdentity",
    ...which,
    print: identityCells,
  });
  addOperation(identities, host, {
    name: "update",
    text: "change an identity, by its id or by --external-id: what is not given stays as it is",
    operation: "updateIdentity",
    args: which.args,
    fields: [...which.fields, ...settings, FIELDS.remaining],
    canClear: true,
    print: identityCells,
  });
  addOperation(identities, host, {
    name: "delete",
    text: "delete an identity; its keys live on without one",
    operation: "deleteIdentity",
    args: ["<identityId>"],
    deletes: true,
    print: (_, { identityId }) => `identity ${identityId} is deleted`,
  });
}
