import { LatchkeyError } from "@latchkey/core";
import type { Command } from "commander";
import { FIELDS, fieldValue } from "../command-line/fields.js";
import { addGroup } from "../command-line/help.js";
import { clockOf, type Host } from "../command-line/host.js";
import { stateText } from "../command-line/key-cells.js";
import {
  type AddCommand,
  addCommonOptions,
  type CommonOptions,
  listCommand,
} from "../command-line/operations.js";
import { instant, minute } from "../command-line/output.js";
import { withLatchkey } from "../command-line/store-options.js";
import { type After, list } from "../command-line/values.js";

interface CreateOptions extends CommonOptions {
  readonly permissions: string[];
  readonly name?: string;
  readonly expires?: number | After;
}

const LIST: AddCommand = listCommand({
  text: "list the root keys of the workspace",
  page: async (latchkey, input) => {
    const page = await latchkey.listRootKeys(input);
    return { items: page.rootKeys, cursor: page.cursor };
  },
  columns: (now) => [
    { title: "ID", of: ({ id }) => id },
    { title: "START", of: ({ start }) => start, isWhole: true },
    { title: "STATE", of: (key) => stateText(key, true, now) },
    {
      title: "EXPIRES",
      of: ({ expires }) => instant(expires) ?? "never",
      inTable: ({ expires }) => minute(expires) ?? "never",
    },
    { title: "PERMISSIONS", of: ({ permissions }) => permissions.join(",") },
    { title: "NAME", of: ({ name }) => name },
  ],
});

/** Adds `latchkey root-key`: issues, lists and revokes root keys. */
export function addRootKey(program: Command, host: Host): void {
  const rootKey = addGroup(
    program,
    "root-key",
    "issue, list or revoke keys for management calls over HTTP",
    [
      "latchkey root-key create --store sqlite:./keys.db --permissions 'api.*.read_key,api.*.create_key'",
    ],
  );
  for (const add of [addCreate, LIST, addRevoke]) add(rootKey, host);
}

function addCreate(rootKey: Command, host: Host): void {
  const create = rootKey
    .command("create", { isDefault: true })
    .description("issue a key and print it, and nothing else: it is shown this once")
    .requiredOption(
      "--permissions <list>",
      "what the key may do, separated by commas: *, api.*.create_key, api.<apiId>.read_key …",
      list,
    )
    .option("--name <text>", "name to know the key by, 1 to 256 characters")
    .option(FIELDS.expires.flags, FIELDS.expires.text, FIELDS.expires.read);
  addCommonOptions(create, "durable").action(
    async ({ permissions, name, expires, ...options }: CreateOptions) => {
      const wanted = {
        permissions,
        ...(name !== undefined && { name }),
        ...(expires !== undefined && {
          expires: fieldValue(FIELDS.expires, expires, clockOf(host)) as number,
        }),
      };
      await withLatchkey(
        options,
        host,
        async (latchkey) => {
          const created = await latchkey.createRootKey(wanted);
          host.print(options.json ? JSON.stringify(created) : created.key);
        },
        "durable",
      );
    },
  );
}

function addRevoke(rootKey: Command, host: Host): void {
  const revoke = rootKey
    .command("revoke")
    .description("make one useless for good; a running server sees it with its next request")
    .argument("<rootKeyId>", "id of the root key, as list prints it");
  addCommonOptions(revoke).action(async (rootKeyId: string, options: CommonOptions) => {
    await withLatchkey(options, host, async (latchkey) => {
      await latchkey.revokeRootKey({ rootKeyId }).catch((error: unknown) => {
        if (!(error instanceof LatchkeyError) || error.code !== "NOT_FOUND") throw error;
        // Not the id itself: somebody may have put the key in its place.
        throw new Error(`workspace ${latchkey.workspaceId} has no such root key`, { cause: error });
      });
      host.print(options.json ? JSON.stringify({ rootKeyId }) : `root key ${rootKeyId} is revoked`);
    });
  });
}
