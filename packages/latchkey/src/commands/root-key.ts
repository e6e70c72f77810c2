import { DEFAULT_WORKSPACE_ID, LatchkeyError } from "@latchkey/core";
import {
  type Arguments,
  type Command,
  readStore,
  readWorkspace,
  STORE_OPTIONS,
  UsageError,
  withLatchkey,
} from "../command-line.js";
import { ENVIRONMENT_HELP, LASTING_STORE_HELP, REDIS_HELP } from "../help.js";
import { isInMemory } from "../store-url.js";

const help = `Usage: latchkey root-key --store <url> --permissions <list> [options]

Issues a key that authorises management calls over HTTP. Prints the key, and nothing else: it is shown this once.

Options:
${LASTING_STORE_HELP}
  --permissions <list>  what the key may do, separated by commas: *, api.*.create_key, api.<apiId>.read_key …
  --workspace <id>      workspace of the key (default ${DEFAULT_WORKSPACE_ID})
  --name <text>         name to know the key by, 1 to 256 characters
  --expires <date>      ISO date, such as 2031-05-17 (00:00 UTC) or 2031-05-17T09:30:00Z, later than now
${REDIS_HELP}
  -h, --help            print this

Example:
  latchkey root-key --store sqlite:./keys.db --permissions 'api.*.read_api,api.*.read_key,api.*.create_key'

${ENVIRONMENT_HELP}`;

/** `latchkey root-key`: issues a root key. */
export const rootKey: Command = {
  summary: "issue a key for management calls over HTTP",
  help,
  options: {
    ...STORE_OPTIONS,
    permissions: "text",
    workspace: "text",
    name: "text",
    expires: "text",
  },
  positionals: [],
  async run(args, host) {
    const store = readStore(args, host);
    if (isInMemory(store.parsed)) {
      throw new UsageError(
        "--store must outlive this program: a root key in memory is gone at exit",
      );
    }
    const workspaceId = readWorkspace(args);
    const wanted = readRootKey(args);
    await withLatchkey(store, host, async (latchkey) => {
      const created = await latchkey
        .workspace(workspaceId)
        .createRootKey(wanted)
        .catch((error: unknown) => {
          throw asUsageError(error);
        });
      host.print(created.key);
    });
  },
};

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

/** A complaint about an input field, made one about the option of the same name. */
function asUsageError(error: unknown): unknown {
  if (!(error instanceof LatchkeyError) || error.code !== "BAD_REQUEST") return error;
  const [issue] = error.issues;
  if (issue === undefined) return error;
  const [field, index] = issue.path.split(".");
  const place = index === undefined ? "" : ` (item ${Number(index) + 1})`;
  return new UsageError(`--${field}${place} ${issue.message}`);
}
