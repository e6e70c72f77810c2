import { readFileSync } from "node:fs";
import { type Command, type Host, messageOf, readArguments, UsageError } from "./command-line.js";
import { ENVIRONMENT_HELP } from "./help.js";

/** A command as the program's help lists it. It is loaded when it is called: only one of them serves HTTP. */
interface ListedCommand {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

const commands: ReadonlyMap<string, ListedCommand> = new Map([
  [
    "serve",
    {
      summary: "serve the HTTP contract",
      load: async () => (await import("./commands/serve.js")).serve,
    },
  ],
  [
    "root-key",
    {
      summary: "issue, list or revoke keys for management calls over HTTP",
      load: async () => (await import("./commands/root-key.js")).rootKey,
    },
  ],
  [
    "workspace",
    {
      summary: "make a workspace, or switch one off or on",
      load: async () => (await import("./commands/workspace.js")).workspace,
    },
  ],
]);

const names = [...commands.keys()].join(", ");

const help = `Usage: latchkey <command> [options]

Issues, verifies and manages API keys.

Commands:
${[...commands].map(([name, { summary }]) => `  ${name.padEnd(20)}  ${summary}`).join("\n")}

Options:
  -h, --help            print this, or the help of a command: latchkey serve --help
  --version             print the version

Example:
  latchkey serve --store sqlite:./keys.db --port 3000

${ENVIRONMENT_HELP}

Exit codes: 0 done, 1 failed, 2 wrong arguments.`;

function version(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

/**
 * Runs `latchkey` with these arguments, and answers its exit code: 0 done, 1 failed, 2 wrong arguments.
 *
 * Never rejects: what went wrong is one line on stderr, without a stack.
 */
export async function runProgram(args: readonly string[], host: Host): Promise<number> {
  try {
    await run(args, host);
    return 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    host.warn(isUsage ? `${error.message} (see --help)` : messageOf(error));
    return isUsage ? 2 : 1;
  }
}

async function run([name, ...rest]: readonly string[], host: Host): Promise<void> {
  const listed = name === undefined ? undefined : commands.get(name);
  if (listed !== undefined) {
    const command = await listed.load();
    const args = readArguments(rest, command);
    if (args.flags.has("help")) host.print(command.help);
    else await command.run(args, host);
  } else if (name === "--help" || name === "-h") host.print(help);
  else if (name === "--version") host.print(version());
  else if (name?.startsWith("-")) throw new UsageError(`options come after the command: ${names}`);
  else throw new UsageError(`the first argument must be a command: ${names}`);
}
