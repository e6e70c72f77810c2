import type { KeyStore, Latchkey } from "@latchkey/core";
import {
  type Arguments,
  asOptionError,
  type Command,
  type Host,
  readWorkspaceId,
  STORE_OPTIONS,
  UsageError,
  withLatchkey,
} from "../command-line.js";
import { ENVIRONMENT_HELP, LASTING_STORE_HELP, REDIS_HELP } from "../help.js";
import { readExistingStore, readPersistentStore } from "../persistent-store.js";

const help = `Usage: latchkey workspace create --store <url> [--name <text>]
       latchkey workspace disable|enable <id> --store <url>

create makes a workspace for one more tenant, and prints its id. disable and enable switch one off or on. While it is
off, none of its keys verifies and none of its root keys authorises anything; a running server sees it with its next
request. Every id names a workspace: where nothing shows that this one was in use, a second line on stderr says so.

Options:
${LASTING_STORE_HELP}
  --name <text>         create: name to know the workspace by, 1 to 256 characters
${REDIS_HELP}
  -h, --help            print this

Example:
  latchkey workspace disable ws_default --store sqlite:./keys.db

${ENVIRONMENT_HELP}`;

/** `latchkey workspace`: makes a workspace, or switches one off or on. */
export const workspace: Command = {
  help,
  options: { ...STORE_OPTIONS, name: "text" },
  positionals: ["create|disable|enable", "<id>"],
  async run(args, host) {
    const [action, id] = args.positionals;
    if (action === "create") {
      if (id !== undefined) throw new UsageError("create makes the id itself: give a --name");
      return create(args, host);
    }
    if (action !== "disable" && action !== "enable") {
      throw new UsageError("the first argument must be create, disable or enable");
    }
    if (args.texts.has("name")) throw new UsageError("--name is for making a workspace");
    if (id === undefined) throw new UsageError(`${action} needs the id of a workspace`);
    return switchOver(action, readWorkspaceId("<id>", id), args, host);
  },
};

async function create(args: Arguments, host: Host): Promise<void> {
  const store = readPersistentStore(args, host);
  const name = args.texts.get("name");
  await withLatchkey(store, host, async (latchkey) => {
    const made = await latchkey
      .createWorkspace(name === undefined ? {} : { name })
      .catch((error: unknown) => {
        throw asOptionError(error);
      });
    host.print(made.workspaceId);
  });
}

async function switchOver(
  action: "disable" | "enable",
  workspaceId: string,
  args: Arguments,
  host: Host,
): Promise<void> {
  const store = readExistingStore(args, host);
  await withLatchkey(store, host, async (everyWorkspace, keyStore) => {
    const latchkey = everyWorkspace.workspace(workspaceId);
    // Also where that fails: a tenant that must be stopped is stopped.
    const showsUse = await hasShownUse(latchkey, keyStore).catch(() => true);
    await latchkey.setWorkspaceEnabled(action === "enable");
    host.print(`workspace ${workspaceId} is ${action}d`);
    if (!showsUse) {
      host.warn(`there is nothing in ${workspaceId}, and it was never switched: check the id`);
    }
  });
}

/**
 * Whether the workspace was given a name, was switched or changed before, or holds anything. Every id names a workspace, so
 * that a mistyped one is switched without complaint.
 */
async function hasShownUse(latchkey: Latchkey, keyStore: KeyStore): Promise<boolean> {
  const { name, enabled } = await latchkey.getWorkspace();
  if (name !== undefined || !enabled) return true;
  // Changes of APIs, roles and permissions raise the revision, and it never falls.
  const { revision } = await keyStore.read(latchkey.workspaceId, []);
  if (revision > 0) return true;
  const one = { limit: 1 };
  const lists = [latchkey.listApis(one), latchkey.listIdentities(one), latchkey.listRootKeys(one)];
  return (await Promise.all(lists)).some(({ total }) => total > 0);
}
