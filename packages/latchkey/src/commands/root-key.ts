import { LatchkeyError, type RootKeyView } from "@latchkey/core";
import type { Command } from "commander";
import { addGroup } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import {
  addJsonOption,
  type Column,
  instant,
  type JsonOption,
  printRows,
} from "../command-line/output.js";
import {
  addStoreOptions,
  addWorkspaceOption,
  type StoreOptions,
  type StoreUse,
  type WorkspaceOption,
  withLatchkey,
} from "../command-line/store-options.js";
import { isoDate, list } from "../command-line/values.js";

type Options = StoreOptions & WorkspaceOption & JsonOption;

interface CreateOptions extends Options {
  readonly permissions: string[];
  readonly name?: string;
  readonly expires?: number;
}

const COLUMNS: readonly Column<RootKeyView>[] = [
  { title: "ID", of: ({ id }) => id },
  { title: "START", of: ({ start }) => start },
  { title: "STATE", of: ({ enabled }) => (enabled ? "enabled" : "disabled") },
  { title: "EXPIRES", of: ({ expires }) => instant(expires) ?? "never" },
  { title: "PERMISSIONS", of: ({ permissions }) => permissions.join(",") },
  { title: "NAME", of: ({ name }) => name },
];

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
  const withOptions = (command: Command, use?: StoreUse) =>
    addJsonOption(addWorkspaceOption(addStoreOptions(command, use)));

  const create = rootKey
    .command("create", { isDefault: true })
    .description("issue a key and print it, and nothing else: it is shown this once")
    .requiredOption(
      "--permissions <list>",
      "what the key may do, separated by commas: *, api.*.create_key, api.<apiId>.read_key …",
      list,
    )
    .option("--name <text>", "name to know the key by, 1 to 256 characters")
    .option(
      "--expires <date>",
      "ISO date, such as 2031-05-17 (00:00 UTC) or 2031-05-17T09:30:00Z, later than now",
      isoDate("--expires"),
    );
  withOptions(create, "lasting").action(
    async ({ permissions, name, expires, ...options }: CreateOptions) => {
      const wanted = {
        permissions,
        ...(name !== undefined && { name }),
        ...(expires !== undefined && { expires }),
      };
      await withLatchkey(
        options,
        host,
        async (latchkey) => {
          const created = await latchkey.createRootKey(wanted);
          host.print(options.json ? JSON.stringify(created) : created.key);
        },
        "lasting",
      );
    },
  );

  withOptions(rootKey.command("list").description("list the root keys of the workspace")).action(
    async (options: Options) => {
      await withLatchkey(options, host, async (latchkey) => {
        let cursor: string | undefined;
        do {
          const page = await latchkey.listRootKeys(cursor === undefined ? {} : { cursor });
          printRows(host, options, page.rootKeys, COLUMNS);
          cursor = page.cursor;
        } while (cursor !== undefined);
      });
    },
  );

  const revoke = rootKey
    .command("revoke")
    .description("make one useless for good; a running server sees it with its next request")
    .argument("<rootKeyId>", "id of the root key, as list prints it");
  withOptions(revoke).action(async (rootKeyId: string, options: Options) => {
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
