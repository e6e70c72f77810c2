import { DIRECTORY_ID, type KeyStore, type Latchkey, type WorkspaceView } from "@latchkey/core";
import type { Command } from "commander";
import { addGroup } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { hasShownUse } from "../command-line/known-workspace.js";
import { type AddCommand, operationCommand } from "../command-line/operations.js";
import { addJsonOption, type Column, type JsonOption, printRows } from "../command-line/output.js";
import { addRepeatOption, perform, type RepeatOption } from "../command-line/repeats.js";
import {
  addStoreOptions,
  readStore,
  type StoreOptions,
  withStore,
} from "../command-line/store-options.js";
import { workspaceIdOf } from "../command-line/values.js";

type Options = StoreOptions & JsonOption & RepeatOption;

const COLUMNS: readonly Column<WorkspaceView>[] = [
  { title: "ID", of: ({ id }) => id },
  { title: "NAME", of: ({ name }) => name },
  { title: "ENABLED", of: ({ enabled }) => enabled },
];

const GET: AddCommand = operationCommand({
  name: "get",
  text: "show the workspace that --workspace names",
  operation: "getWorkspace",
  print: ({ id, name, enabled }) => [
    ["id", id],
    ["name", name],
    ["enabled", enabled],
  ],
});

const DISABLE = switchCommand(
  "disable",
  "switch a workspace off: none of its keys verifies, and none of its root keys works",
);

const ENABLE = switchCommand("enable", "switch a workspace on again");

/** Adds `latchkey workspace`: makes a workspace, lists them, shows one, or switches it off or on. */
export function addWorkspace(program: Command, host: Host): void {
  const workspace = addGroup(
    program,
    "workspace",
    "make, list or show workspaces, or switch one off or on",
    ["latchkey workspace disable ws_default --store sqlite:./keys.db"],
  );
  for (const add of [addCreate, addList, GET, DISABLE, ENABLE]) add(workspace, host);
}

function addCreate(workspace: Command, host: Host): void {
  const create = workspace
    .command("create")
    .description("make a workspace for one more tenant, and print its id")
    .option("--name <text>", "name to know the workspace by, 1 to 256 characters");
  addJsonOption(addStoreOptions(addRepeatOption(create), "durable")).action(
    async ({ name, ...options }: Options & { readonly name?: string }) => {
      await withStore(readStore(options, host, "durable"), host, async (latchkey) => {
        const typed = name === undefined ? {} : { name };
        const { answer } = await perform(latchkey, "createWorkspace", typed, options, host);
        host.print(options.json ? JSON.stringify(answer) : answer.workspaceId);
      });
    },
  );
}

function addList(workspace: Command, host: Host): void {
  const list = workspace
    .command("list")
    .description("list the workspaces that hold something, or were switched");
  addJsonOption(addStoreOptions(list, "existing")).action(async (options: Options) => {
    await withStore(readStore(options, host, "existing"), host, async (latchkey, store) => {
      const views: WorkspaceView[] = [];
      for (const id of await workspaceIds(store))
        views.push(await latchkey.workspace(id).getWorkspace());
      printRows(host, options, views, COLUMNS);
    });
  });
}

function switchCommand(action: "disable" | "enable", effect: string): AddCommand {
  return (workspace, host) => {
    const switching = workspace
      .command(action)
      .description(`${effect}; a running server sees it with its next request`)
      .argument("<id>", "id of the workspace", workspaceIdOf("<id>"));
    addJsonOption(addStoreOptions(addRepeatOption(switching))).action(
      async (id: string, options: Options) => {
        const choice = readStore(options, host, "existing");
        await withStore(choice, host, (latchkey, store) =>
          switchOver(latchkey.workspace(id), store, action === "enable", options, host),
        );
      },
    );
  };
}

async function switchOver(
  latchkey: Latchkey,
  store: KeyStore,
  enabled: boolean,
  { json, idempotencyKey }: Options,
  host: Host,
): Promise<void> {
  const { workspaceId } = latchkey;
  // Also where that fails: a tenant that must be stopped is stopped.
  const showsUse = await hasShownUse(latchkey, store).catch(() => true);
  await latchkey.setWorkspaceEnabled(
    enabled,
    idempotencyKey === undefined ? {} : { idempotencyKey },
  );
  host.print(
    json
      ? JSON.stringify({ workspaceId, enabled })
      : `workspace ${workspaceId} is ${enabled ? "enabled" : "disabled"}`,
  );
  if (!showsUse)
    host.warn(`there is nothing in ${workspaceId}, and it was never switched: check the id`);
}

/** In ascending order, without the directory of root keys, which is nobody's. */
async function workspaceIds(store: KeyStore): Promise<readonly string[]> {
  const ids = new Set<string>();
  let after: string | null = null;
  do {
    const { names, next } = await store.scan(null, after);
    for (const name of names) ids.add(name);
    after = next;
  } while (after !== null);
  ids.delete(DIRECTORY_ID);
  return [...ids].sort();
}
