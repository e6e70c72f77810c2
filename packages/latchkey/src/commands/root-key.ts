import { DEFAULT_WORKSPACE_ID, LatchkeyError, type RootKeyView } from "@latchkey/core";
import {
  type Arguments,
  asOptionError,
  type Command,
  type Host,
  readWorkspace,
  STORE_OPTIONS,
  UsageError,
  withLatchkey,
} from "../command-line.js";
import { ENVIRONMENT_HELP, LASTING_STORE_HELP, REDIS_HELP } from "../help.js";
import { readExistingStore, readPersistentStore } from "../persistent-store.js";

const help = `Usage: latchkey root-key create --store <url> --permissions <list> [options]
       latchkey root-key list --store <url> [--workspace <id>]
       latchkey root-key revoke <id> --store <url> [--workspace <id>]

create, which may be left out, issues a key that authorises management calls over HTTP. Prints the key, and nothing else:
it is shown this once.
list prints a line for each root key: id, first characters, enabled or disabled, expiry, permissions and name, with tabs
between them. revoke makes one useless for good; a running server sees it with its next request.

Options:
${LASTING_STORE_HELP}
  --permissions <list>  what the key may do, separated by commas: *, api.*.create_key, api.<apiId>.read_key …
  --workspace <id>      workspace of the key (default ${DEFAULT_WORKSPACE_ID})
  --name <text>         name to know the key by, 1 to 256 characters
  --expires <date>      ISO date, such as 2031-05-17 (00:00 UTC) or 2031-05-17T09:30:00Z, later than now
${REDIS_HELP}
  -h, --help            print this

Example:
  latchkey root-key create --store sqlite:./keys.db --permissions 'api.*.read_api,api.*.read_key,api.*.create_key'

${ENVIRONMENT_HELP}`;

const ISSUE_OPTIONS = { permissions: "text", name: "text", expires: "text" } as const;

/** `latchkey root-key`: issues, lists and revokes root keys. */
export const rootKey: Command = {
  help,
  options: { ...STORE_OPTIONS, ...ISSUE_OPTIONS, workspace: "text" },
  positionals: ["create|list|revoke", "<id>"],
  async run(args, host) {
    const [action, id] = args.positionals;
    if (action === undefined || (action === "create" && id === undefined)) return issue(args, host);
    if (action === "create") throw new UsageError("create makes the id itself: give a --name");
    for (const option of Object.keys(ISSUE_OPTIONS))
      if (args.texts.has(option)) throw new UsageError(`--${option} is for issuing a root key`);
    if (action === "list" && id === undefined) return list(args, host);
    if (action === "revoke" && id !== undefined) return revoke(id, args, host);
    throw new UsageError(
      action === "revoke"
        ? "revoke needs the id of a root key, as list prints it"
        : "the arguments must be create, list, or revoke and an id",
    );
  },
};

async function issue(args: Arguments, host: Host): Promise<void> {
  const store = readPersistentStore(args, host);
  const workspaceId = readWorkspace(args);
  const wanted = readRootKey(args);
  await withLatchkey(store, host, async (latchkey) => {
    const created = await latchkey
      .workspace(workspaceId)
      .createRootKey(wanted)
      .catch((error: unknown) => {
        throw asOptionError(error);
      });
    host.print(created.key);
  });
}

async function list(args: Arguments, host: Host): Promise<void> {
  const workspaceId = readWorkspace(args);
  const store = readExistingStore(args, host);
  await withLatchkey(store, host, async (everyWorkspace) => {
    const latchkey = everyWorkspace.workspace(workspaceId);
    let cursor: string | undefined;
    do {
      const page = await latchkey.listRootKeys(cursor === undefined ? {} : { cursor });
      for (const rootKey of page.rootKeys) host.print(lineOf(rootKey));
      cursor = page.cursor;
    } while (cursor !== undefined);
  });
}

async function revoke(rootKeyId: string, args: Arguments, host: Host): Promise<void> {
  const workspaceId = readWorkspace(args);
  const store = readExistingStore(args, host);
  await withLatchkey(store, host, async (latchkey) => {
    await latchkey
      .workspace(workspaceId)
      .revokeRootKey({ rootKeyId })
      .catch((error: unknown) => {
        if (!(error instanceof LatchkeyError) || error.code !== "NOT_FOUND") throw error;
        // Not the id itself: somebody may have put the key in its place.
        throw new Error(`workspace ${workspaceId} has no such root key`, { cause: error });
      });
    host.print(`root key ${rootKeyId} is revoked`);
  });
}

function lineOf({ id, start, enabled, expires, permissions, name }: RootKeyView): string {
  const state = enabled ? "enabled" : "disabled";
  const until = expires === undefined ? "never" : new Date(expires).toISOString();
  const fields = [id, start, state, until, permissions.join(",")];
  // A name is anyone's text: as a JSON string it neither breaks the line nor moves the cursor.
  return [...fields, ...(name === undefined ? [] : [JSON.stringify(name)])].join("\t");
}

function readRootKey({ texts }: Arguments): {
  permissions: string[];
  name?: string;
  expires?: number;
} {
  const permissions = texts.get("permissions");
  if (permissions === undefined) {
    throw new UsageError(
      "--permissions is required: * or a list such as api.*.read_key,api.*.create_key",
    );
  }
  const name = texts.get("name");
  const expires = texts.get("expires");
  return {
    permissions: permissions.split(",").map((permission) => permission.trim()),
    ...(name !== undefined && { name }),
    ...(expires !== undefined && { expires: readIsoDate("--expires", expires) }),
  };
}

const ISO_DATE = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** Unix epoch ms of an ISO date, or of an ISO date and time with its zone. */
function readIsoDate(argument: string, text: string): number {
  const [, date = ""] = ISO_DATE.exec(text) ?? [];
  const instant = Date.parse(text);
  // Date.parse takes 30 February for 2 March: a date that does not come back as it went in does not exist.
  const midnight = Date.parse(`${date}T00:00:00Z`);
  const exists = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date);
  if (date === "" || Number.isNaN(instant) || !exists) {
    throw new UsageError(
      `${argument} must be an ISO date, such as 2031-05-17 or 2031-05-17T09:30:00Z`,
    );
  }
  return instant;
}
