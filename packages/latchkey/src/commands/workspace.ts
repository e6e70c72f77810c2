import { existsSync } from "node:fs";
import type { KeyStore, Latchkey } from "@latchkey/core";
import {
  type Command,
  readStore,
  readWorkspaceId,
  STORE_OPTIONS,
  type StoreChoice,
  UsageError,
  withLatchkey,
} from "../command-line.js";
import { ENVIRONMENT_HELP, LASTING_STORE_HELP, REDIS_HELP } from "../help.js";
import { isInMemory } from "../store-url.js";

const help = `Usage: latchkey workspace disable|enable <id> --store <url>

Switches a workspace off or on. While it is off, none of its keys verifies and none of its root keys authorises
anything; a running server sees it with its next request. Every id names a workspace: where nothing shows that this one
was in use, a second line on stderr says so.

Options:
${LASTING_STORE_HELP}
${REDIS_HELP}
  -h, --help            print this

Example:
  latchkey workspace disable ws_default --store sqlite:./keys.db

${ENVIRONMENT_HELP}`;

/** `latchkey workspace`: switches a workspace off or on. */
export const workspace: Command = {
  summary: "switch a workspace off or on",
  help,
  options: STORE_OPTIONS,
  positionals: ["disable|enable", "<id>"],
  async run(args, host) {
    const [action, id] = args.positionals;
    if (action !== "disable" && action !== "enable") {
      throw new UsageError("the first argument must be disable or enable");
    }
    if (id === undefined) throw new UsageError(`${action} needs the id of a workspace`);
    const workspaceId = readWorkspaceId("<id>", id);
    const store = readStore(args, host);
    assertExists(store);
    await withLatchkey(store, host, async (everyWorkspace, keyStore) => {
      const latchkey = everyWorkspace.workspace(workspaceId);
      // Whatever becomes of the question: a tenant that must be stopped is stopped.
      const showsUse = await hasShownUse(latchkey, keyStore).catch(() => true);
      await latchkey.setWorkspaceEnabled(action === "enable");
      host.print(`workspace ${workspaceId} is ${action}d`);
      if (!showsUse) {
        host.warn(`${workspaceId} has no identities and was never switched before: check the id`);
      }
    });
  },
};

/**
 * Whether the workspace has an identity, or was switched or changed before. Every id names a workspace, so that a
 * mistyped one is switched without complaint; and no store lists APIs, so that one with nothing but new keys shows no use.
 */
async function hasShownUse(latchkey: Latchkey, keyStore: KeyStore): Promise<boolean> {
  const { enabled, epoch } = await keyStore.getWorkspace(latchkey.workspaceId);
  if (!enabled || epoch > 0) return true;
  return (await latchkey.listIdentities({ limit: 1 })).total > 0;
}

/** A mistyped file would be made anew, and the switch thrown where nobody looks. */
function assertExists({ parsed }: StoreChoice): void {
  if (isInMemory(parsed)) {
    throw new UsageError(
      "--store must be one that a server uses: a store in memory is gone at exit",
    );
  }
  if (parsed.kind === "sqlite" && !existsSync(parsed.path))
    throw new Error(`there is no file ${parsed.path}`);
}
