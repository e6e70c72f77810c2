import { type Latchkey, LatchkeyError } from "@latchkey/core";
import type { Command } from "commander";
import { UsageError } from "../command-line/failures.js";
import { FIELDS, span } from "../command-line/fields.js";
import { type AddCommand, groupCommand } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { stateText } from "../command-line/key-cells.js";
import { addCommonOptions, type CommonOptions, listCommand } from "../command-line/operations.js";
import { instant, minute, printLine } from "../command-line/output.js";
import { addRepeatOption, perform, type RepeatOption } from "../command-line/repeats.js";
import { withLatchkey } from "../command-line/store-options.js";
import { type After, list } from "../command-line/values.js";

interface CreateOptions extends CommonOptions, RepeatOption {
  readonly permissions: string[];
  readonly name?: string;
  readonly expires?: number | After;
}

const LIST: AddCommand = listCommand({
  text: "list the root keys of the workspace",
  page: async (latchkey, input) => {
    const { rootKeys: items, ...page } = await latchkey.listRootKeys(input);
    return { items, ...page };
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

interface UpdateOptions extends Partial<CreateOptions> {
  readonly clear?: readonly string[];
}

/** Optional settings, which `--clear` removes. */
const CLEARABLE = ["name", "expires"] as const;

const PERMISSIONS_TEXT =
  "what the key may do, separated by commas: *, api.*.create_key, api.<apiId>.read_key …";

/** Adds `latchkey root-key`: issues, lists, changes, rotates and revokes root keys. */
export const addRootKey: AddCommand = groupCommand(
  "root-key",
  "issue, list, change, rotate or revoke keys for management calls over HTTP",
  [
    "latchkey root-key create --store sqlite:./keys.db --permissions 'api.*.read_key,api.*.create_key'",
  ],
  [addCreate, LIST, addUpdate, addRotate, addRevoke],
);

function addCreate(rootKey: Command, host: Host): void {
  const create = rootKey
    .command("create", { isDefault: true })
    .description("issue a key and print nothing else; it is shown only once")
    .requiredOption("--permissions <list>", PERMISSIONS_TEXT, list)
    .option("--name <text>", "a name for the key, 1 to 256 characters")
    .option(FIELDS.expires.flags, FIELDS.expires.text, FIELDS.expires.read);
  addCommonOptions(addRepeatOption(create), "durable").action(
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
          const written = await perform(latchkey, "createRootKey", wanted, options, host);
          printSecret(written.answer, options, host);
        },
        "durable",
      );
    },
  );
}

function addUpdate(rootKey: Command, host: Host): void {
  const update = rootKey
    .command("update")
    .description(
      "change the name, permissions or expiry; a running server sees it with its next request",
    )
    .argument("<rootKeyId>", "id of the root key, as list prints it")
    .option("--permissions <list>", `${PERMISSIONS_TEXT} These replace the current ones`, list)
    .option("--name <text>", "a name for the key, 1 to 256 characters")
    .option(FIELDS.expires.flags, FIELDS.expires.text, FIELDS.expires.read)
    .option("--clear <list>", "options whose values are removed: name,expires", list);
  addCommonOptions(addRepeatOption(update)).action(
    async (rootKeyId: string, { clear = [], ...given }: UpdateOptions) => {
      const { permissions, name, expires, ...options } = given;
      checkCleared(clear, given);
      if ([permissions, name, expires, clear[0]].every((value) => value === undefined))
        throw new UsageError("--permissions, --name, --expires or --clear is required");
      const wanted = {
        ...Object.fromEntries(clear.map((field) => [field, null])),
        ...(permissions !== undefined && { permissions }),
        ...(name !== undefined && { name }),
        ...(expires !== undefined && { expires }),
      };
      await withLatchkey(options, host, async (latchkey) => {
        const input = { rootKeyId, ...wanted };
        await known(latchkey, perform(latchkey, "updateRootKey", input, options, host));
        printLine(host, options, { rootKeyId }, `root key ${rootKeyId} is updated`);
      });
    },
  );
}

function checkCleared(clear: readonly string[], given: UpdateOptions): void {
  if (clear.some((field) => !CLEARABLE.some((known) => known === field)))
    throw new UsageError("--clear must be a list of name and expires");
  const both = CLEARABLE.find((field) => clear.includes(field) && given[field] !== undefined);
  if (both !== undefined)
    throw new UsageError(`--clear must not name "${both}", which is given a value`);
}

function addRotate(rootKey: Command, host: Host): void {
  const rotate = rootKey
    .command("rotate")
    .description("replace a key and print only the new one, which is shown only once")
    .argument("<rootKeyId>", "id of the root key, as list prints it")
    .option(
      "--grace <span>",
      "how long the old one stays valid, such as 1d (default: not at all)",
      span("--grace"),
    );
  addCommonOptions(addRepeatOption(rotate)).action(
    async (
      rootKeyId: string,
      { grace, ...options }: CommonOptions & RepeatOption & { readonly grace?: number },
    ) => {
      await withLatchkey(options, host, async (latchkey) => {
        const input = { rootKeyId, ...(grace !== undefined && { graceMs: grace }) };
        const rotating = perform(latchkey, "rotateRootKey", input, options, host);
        printSecret((await known(latchkey, rotating)).answer, options, host);
      });
    },
  );
}

/** Prints a root key, and nothing else. @throws Error if only the first command could print it: a script must not continue without it. */
function printSecret(
  answer: Readonly<{ rootKeyId: string; key?: string }>,
  { json }: CommonOptions,
  host: Host,
): void {
  const { rootKeyId, key } = answer;
  if (json) host.print(JSON.stringify(answer));
  else if (key !== undefined) host.print(key);
  if (key === undefined) throw new Error(`root key ${rootKeyId} was issued by an earlier command`);
}

/** Runs an operation on a root key that may not exist. The error does not repeat the id, because somebody may have typed the key. */
async function known<Answer>(
  { workspaceId }: Pick<Latchkey, "workspaceId">,
  done: Promise<Answer>,
): Promise<Answer> {
  return done.catch((error: unknown) => {
    if (!(error instanceof LatchkeyError) || error.code !== "NOT_FOUND") throw error;
    throw new Error(`workspace ${workspaceId} has no such root key`, { cause: error });
  });
}

function addRevoke(rootKey: Command, host: Host): void {
  const revoke = rootKey
    .command("revoke")
    .description("revoke a root key for good; a running server sees it with its next request")
    .argument("<rootKeyId>", "id of the root key, as list prints it");
  addCommonOptions(addRepeatOption(revoke)).action(
    async (rootKeyId: string, options: CommonOptions & RepeatOption) => {
      await withLatchkey(options, host, async (latchkey) => {
        await known(latchkey, perform(latchkey, "revokeRootKey", { rootKeyId }, options, host));
        printLine(host, options, { rootKeyId }, `root key ${rootKeyId} is revoked`);
      });
    },
  );
}
