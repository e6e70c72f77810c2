import { Command, CommanderError } from "commander";
import { messageOf, operationComplaint, parserComplaint } from "./command-line/complaints.js";
import { Refused, UsageError } from "./command-line/failures.js";
import { type AddCommand, example, HELP_END } from "./command-line/help.js";
import type { Host } from "./command-line/host.js";
import { PASSWORD_IN_ARGUMENTS, secretInArguments } from "./command-line/secret-input.js";
import { addApis } from "./commands/apis.js";
import { addAudit } from "./commands/audit.js";
import { addBackup } from "./commands/backup.js";
import { addCompletion } from "./commands/completion.js";
import { addConsole } from "./commands/console.js";
import { addCopy } from "./commands/copy.js";
import { addDoctor } from "./commands/doctor.js";
import { addEvents } from "./commands/events.js";
import { addExplain } from "./commands/explain.js";
import { addExport } from "./commands/export.js";
import { addIdentities } from "./commands/identities.js";
import { addImport } from "./commands/import.js";
import { addKeys } from "./commands/keys.js";
import { addLeaks } from "./commands/leaks.js";
import { addLeases } from "./commands/leases.js";
import { addLimits } from "./commands/limits.js";
import { addMigrate } from "./commands/migrate.js";
import { addPermissions } from "./commands/permissions.js";
import { addReservations } from "./commands/reservations.js";
import { addRestore } from "./commands/restore.js";
import { addRoles } from "./commands/roles.js";
import { addRootKey } from "./commands/root-key.js";
import { addScannerRules } from "./commands/scanner-rules.js";
import { addServe } from "./commands/serve.js";
import { addUsage } from "./commands/usage.js";
import { addExchange, addVerify } from "./commands/verify.js";
import { addWebhooks } from "./commands/webhooks.js";
import { addWorkspace } from "./commands/workspace.js";
import { redact } from "./secrets/redact.js";
import { hasPassword } from "./store-url.js";
import { version } from "./version.js";

/** The commands, in the order of the program's help. */
const COMMANDS: readonly AddCommand[] = [
  addServe,
  addConsole,
  addApis,
  addKeys,
  addIdentities,
  addRoles,
  addPermissions,
  addVerify,
  addExchange,
  addExplain,
  addLimits,
  addReservations,
  addLeases,
  addUsage,
  addAudit,
  addEvents,
  addWebhooks,
  addRootKey,
  addWorkspace,
  addCopy,
  addBackup,
  addRestore,
  addDoctor,
  addMigrate,
  addScannerRules,
  addLeaks,
  addCompletion,
  addImport,
  addExport,
];

/** Width of help that is not printed on a terminal. */
const HELP_COLUMNS = 100;

/** The program with all its commands, for these arguments. It reads and opens nothing before one of them runs. */
function createProgram(host: Host, args: readonly string[]): Command {
  const program = new Command("latchkey")
    .usage("<command> [options]")
    .description("Issues, verifies and manages API keys.")
    .version(version(), "--version", "print the version")
    // `usage export` shares names of options with `usage`.
    .enablePositionalOptions()
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => host.print(text.trimEnd()),
      // Errors are printed once, reworded, where they are caught.
      writeErr: () => undefined,
      getOutHelpWidth: () => host.terminal?.columns ?? HELP_COLUMNS,
    })
    .addHelpText("after", example("latchkey serve --store sqlite:./keys.db --port 3000"))
    .addHelpText("afterAll", HELP_END);
  for (const add of COMMANDS) add(program, host);
  refuseRepeats(program, args);
  return program;
}

/**
 * Runs `latchkey` with these arguments, and returns its exit code: 0 done, 1 failed or refused, 2 wrong arguments.
 *
 * Never rejects: errors are one line on stderr, without a stack.
 */
export async function runProgram(args: readonly string[], host: Host): Promise<number> {
  try {
    await runArguments(args, host);
    return 0;
  } catch (error) {
    if (error instanceof Refused) return 1;
    const isUsage = error instanceof UsageError;
    host.warn(`${messageOf(error)}${isUsage ? " (see --help)" : ""}`);
    return isUsage ? 2 : 1;
  }
}

/** Runs `latchkey` with these arguments, and rejects if it fails. */
export async function runArguments(args: readonly string[], host: Host): Promise<void> {
  if (args.some((arg) => redact(arg) !== arg)) throw secretInArguments();
  if (args.some(hasPassword)) host.warn(PASSWORD_IN_ARGUMENTS);
  const program = createProgram(host, args);
  let running: Command | null = null;
  program.hook("preAction", (_, command) => {
    running = command;
  });
  try {
    const [first, ...named] = args;
    await program.parseAsync(first === "help" ? [...named, "--help"] : args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw operationComplaint(error, running);
    if (error.exitCode !== 0) throw parserComplaint(error, namedBy(args, program));
  }
}

/** The command that the first arguments name, as far as they do. */
function namedBy(args: readonly string[], program: Command): Command {
  let named = program;
  for (const arg of args) {
    const next = named.commands.find((command) => command.name() === arg);
    if (next === undefined) break;
    named = next;
  }
  return named;
}

/** Commander takes the last of several, but we cannot know which one was meant. */
function refuseRepeats(command: Command, args: readonly string[]): void {
  for (const option of command.options) {
    let isGiven = false;
    command.on(`option:${option.name()}`, (value: string | null) => {
      if (isGiven) throw new UsageError(`${option.long} must be given once`);
      isGiven = true;
      // An option instead of a value: the value was forgotten. After `=`, a value may begin with a hyphen.
      const isForgotten = /^$|^-[^\d]/.test(value ?? "");
      if (option.required && isForgotten && (!value || !args.includes(`${option.long}=${value}`)))
        throw new UsageError(`${option.long} needs a value`);
    });
  }
  for (const child of command.commands) refuseRepeats(child, args);
}
