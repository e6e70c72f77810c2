import type { KeyStore, Latchkey, WorkspaceView } from "@latchkey/core";
import type { Command } from "commander";
import { UsageError } from "../command-line/failures.js";
import { type AddCommand, groupCommand } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { hasShownUse } from "../command-line/known-workspace.js";
import { operationCommand } from "../command-line/operations.js";
import {
  addJsonOption,
  type Column,
  type JsonOption,
  printLine,
  printRows,
} from "../command-line/output.js";
import { progressLines } from "../command-line/progress.js";
import {
  addRepeatOption,
  perform,
  type RepeatOption,
  warnOfRepeat,
} from "../command-line/repeats.js";
import {
  addStoreOptions,
  type LatchkeyExtras,
  readStore,
  type StoreOptions,
  withStore,
} from "../command-line/store-options.js";
import { list, workspaceIdOf } from "../command-line/values.js";
import { plural } from "../command-line/words.js";

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

const UPDATE = onWorkspace<{ readonly name?: string; readonly clear?: readonly string[] }>({
  name: "update",
  text: "name a workspace, or remove its name",
  addOptions: (command) =>
    command
      .option("--name <text>", "a name for the workspace, 1 to 256 characters")
      .option("--clear <list>", "options whose values are removed: name", list),
  check: (_, { name, clear = [] }) => {
    if (clear.some((field) => field !== "name"))
      throw new UsageError("--clear must be a list of name");
    if ((name === undefined) === (clear.length === 0))
      throw new UsageError("one of --name and --clear is required");
  },
  act: async (latchkey, workspaceId, { name = null }, repeat, scope) => {
    await latchkey.updateWorkspace({ workspaceId, name, ...repeat }, scope);
    return [{ workspaceId, name }, `workspace ${workspaceId} is updated`];
  },
});

const DISABLE = switchCommand(
  "disable",
  "switch a workspace off: none of its keys verifies, and none of its root keys works",
);

const ENABLE = switchCommand("enable", "switch a workspace on again");

const DELETE = onWorkspace<{ readonly confirm: string }>({
  name: "delete",
  text: "delete a workspace with everything in it, for good; if it fails on the way, run it again",
  addOptions: (command) => command.requiredOption("--confirm <id>", "the id again, to confirm"),
  check: (workspaceId, { confirm }) => {
    if (confirm !== workspaceId) throw new UsageError("--confirm must repeat the id");
  },
  watch: (host) => {
    const show = progressLines(host);
    let steps = 0;
    return (method) => {
      if (method !== "forget") return;
      show(() => `${plural(steps, "step")} so far`);
      steps += 1;
    };
  },
  act: async (latchkey, workspaceId, { confirm }, repeat, scope) => {
    await latchkey.deleteWorkspace({ workspaceId, confirm, ...repeat }, scope);
    return [{ workspaceId }, `workspace ${workspaceId} is deleted`];
  },
});

/** Adds `latchkey workspace`: creates, lists, shows, renames, deletes, disables and enables workspaces. */
export const addWorkspace: AddCommand = groupCommand(
  "workspace",
  "create, list, show, name or delete workspaces, or switch one off or on",
  [
    "latchkey workspace create --name tenant --store sqlite:./keys.db",
    "latchkey workspace disable ws_default --store sqlite:./keys.db",
    "latchkey workspace delete <id> --confirm <id>",
  ],
  [addCreate, addList, GET, UPDATE, DISABLE, ENABLE, DELETE],
);

function addCreate(workspace: Command, host: Host): void {
  const create = workspace
    .command("create")
    .description("create a workspace for another tenant, and print its id")
    .option("--name <text>", "a name for the workspace, 1 to 256 characters");
  addJsonOption(addStoreOptions(addRepeatOption(create), "durable")).action(
    async ({ name, ...options }: Options & { readonly name?: string }) => {
      await withStore(readStore(options, host, "durable"), host, async (latchkey) => {
        const typed = name === undefined ? {} : { name };
        const { answer } = await perform(latchkey, "createWorkspace", typed, options, host);
        printLine(host, options, answer, answer.workspaceId);
      });
    },
  );
}

function addList(workspace: Command, host: Host): void {
  const list = workspace
    .command("list")
    .description("list the workspaces that hold something, or were switched off or on");
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

/** A command on the workspace whose id is its argument. */
interface WorkspaceCommand<Given> {
  readonly name: string;
  readonly text: string;
  /** Adds the command's own options. */
  readonly addOptions?: (command: Command) => Command;
  /** @throws UsageError for a wrong option. */
  readonly check?: (workspaceId: string, given: Given) => void;
  /** What to call with each call of the store, if the command may take long. */
  readonly watch?: (host: Host) => LatchkeyExtras["onStoreCall"];
  /** Runs the command, and returns the record for `--json` and the text for people. */
  readonly act: (
    latchkey: Latchkey,
    workspaceId: string,
    given: Given,
    repeat: RepeatOption,
    scope: { readonly beforeFirst?: () => void },
  ) => Promise<readonly [record: object, text: string]>;
}

/** A command on one workspace. It warns if the workspace was never used, because its id may be mistyped. */
function onWorkspace<Given = object>(spec: WorkspaceCommand<Given>): AddCommand {
  return (group, host) => {
    const command = group
      .command(spec.name)
      .description(spec.text)
      .argument("<id>", "id of the workspace", workspaceIdOf("<id>"));
    spec.addOptions?.(command);
    addJsonOption(addStoreOptions(addRepeatOption(command))).action(
      async (id: string, options: Options & Given) => {
        spec.check?.(id, options);
        const work = async (latchkey: Latchkey, store: KeyStore) => {
          const showsUse = await hasShownUse(latchkey.workspace(id), store).catch(() => true);
          const { idempotencyKey } = options;
          const repeat = idempotencyKey === undefined ? {} : { idempotencyKey };
          let isRepeat = idempotencyKey !== undefined;
          const beforeFirst = () => {
            isRepeat = false;
          };
          const scope = isRepeat ? { beforeFirst } : {};
          const [record, text] = await spec.act(latchkey, id, options, repeat, scope);
          printLine(host, options, record, text);
          if (isRepeat) warnOfRepeat(host);
          if (!showsUse)
            host.warn(
              `there is nothing in ${id}, and it was never switched off or on: check the id`,
            );
        };
        const onStoreCall = spec.watch?.(host);
        await withStore(readStore(options, host, "existing"), host, work, {
          ...(onStoreCall && { onStoreCall }),
        });
      },
    );
  };
}

function switchCommand(name: "disable" | "enable", effect: string): AddCommand {
  return onWorkspace({
    name,
    text: `${effect}; a running server sees it with its next request`,
    act: async (latchkey, workspaceId, _, repeat, scope) => {
      const enabled = name === "enable";
      await latchkey.workspace(workspaceId).setWorkspaceEnabled(enabled, { ...repeat, ...scope });
      return [{ workspaceId, enabled }, `workspace ${workspaceId} is ${name}d`];
    },
  });
}
