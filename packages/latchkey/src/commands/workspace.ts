import type { Latchkey, WorkspaceView } from "@latchkey/core";
import type { Command } from "commander";
import { UsageError } from "../command-line/failures.js";
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
import { list, workspaceIdOf } from "../command-line/values.js";

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

/** Adds `latchkey workspace`: makes a workspace, lists them, shows, names or deletes one, or switches it off or on. */
export function addWorkspace(program: Command, host: Host): void {
  const workspace = addGroup(
    program,
    "workspace",
    "make, list, show, name or delete workspaces, or switch one off or on",
    [
      "latchkey workspace create --name tenant --store sqlite:./keys.db",
      "latchkey workspace disable ws_default --store sqlite:./keys.db",
      "latchkey workspace delete <id> --confirm <id>",
    ],
  );
  const commands = [addCreate, addList, GET, addUpdate, DISABLE, ENABLE, addDelete];
  for (const add of commands) add(workspace, host);
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
    await withStore(readStore(options, host, "existing"), host, async (latchkey) => {
      const views: WorkspaceView[] = [];
      const workspaces = latchkey.workspaces({ limit: 100 });
      for await (const view of workspaces) views.push(view);
      printRows(host, options, views, COLUMNS);
      if (workspaces.damaged > 0) host.warn(`${workspaces.damaged} more cannot be read`);
    });
  });
}

function addUpdate(workspace: Command, host: Host): void {
  const update = workspace
    .command("update")
    .description("name a workspace, or take its name away")
    .argument("<id>", "id of the workspace", workspaceIdOf("<id>"))
    .option("--name <text>", "name to know the workspace by, 1 to 256 characters")
    .option("--clear <list>", "options whose values are taken away: name", list);
  addJsonOption(addStoreOptions(addRepeatOption(update))).action(
    async (
      workspaceId: string,
      {
        name,
        clear = [],
        ...options
      }: Options & { readonly name?: string; readonly clear?: readonly string[] },
    ) => {
      if (clear.some((field) => field !== "name"))
        throw new UsageError("--clear must be a list of name");
      if ((name === undefined) === (clear.length === 0))
        throw new UsageError("one of --name and --clear is required");
      await onWorkspace(workspaceId, options, host, async (latchkey, beside) => {
        await latchkey.updateWorkspace({ workspaceId, name: name ?? null, ...beside });
        return [{ workspaceId, name: name ?? null }, `workspace ${workspaceId} is updated`];
      });
    },
  );
}

function addDelete(workspace: Command, host: Host): void {
  const deletion = workspace
    .command("delete")
    .description("delete a workspace with everything in it, for good; called again, it goes on")
    .argument("<id>", "id of the workspace", workspaceIdOf("<id>"))
    .requiredOption("--confirm <id>", "the id once more");
  addJsonOption(addStoreOptions(addRepeatOption(deletion))).action(
    async (
      workspaceId: string,
      { confirm, ...options }: Options & { readonly confirm: string },
    ) => {
      if (confirm !== workspaceId) throw new UsageError("--confirm must be the id once more");
      await onWorkspace(workspaceId, options, host, async (latchkey, beside) => {
        await latchkey.deleteWorkspace({ workspaceId, confirm, ...beside });
        return [{ workspaceId }, `workspace ${workspaceId} is deleted`];
      });
    },
  );
}

/** Does something with a workspace, and says so. Where nothing was ever in it, its id may be mistyped. */
async function onWorkspace(
  workspaceId: string,
  { json, idempotencyKey, ...options }: Options,
  host: Host,
  act: (
    latchkey: Latchkey,
    beside: RepeatOption,
  ) => Promise<readonly [record: object, text: string]>,
): Promise<void> {
  await withStore(readStore(options, host, "existing"), host, async (latchkey, store) => {
    const showsUse = await hasShownUse(latchkey.workspace(workspaceId), store).catch(() => true);
    const beside = idempotencyKey === undefined ? {} : { idempotencyKey };
    const [record, text] = await act(latchkey, beside);
    host.print(json ? JSON.stringify(record) : text);
    if (!showsUse)
      host.warn(`there is nothing in ${workspaceId}, and it was never switched: check the id`);
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
        const enabled = action === "enable";
        await onWorkspace(id, options, host, async (latchkey, beside) => {
          await latchkey.workspace(id).setWorkspaceEnabled(enabled, beside);
          const text = `workspace ${id} is ${enabled ? "enabled" : "disabled"}`;
          return [{ workspaceId: id, enabled }, text];
        });
      },
    );
  };
}
