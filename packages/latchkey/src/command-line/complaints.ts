import { LatchkeyError } from "@latchkey/core";
import type { Command, CommanderError } from "commander";
import { reworded, UsageError } from "./failures.js";
import { typedNames } from "./fields.js";
import { printable } from "./output.js";
import { fieldsAsTyped, inTypedWords } from "./typed-words.js";

/** The name of an option in messages of a store or of core, and its name here. */
const STORE_FLAGS: ReadonlyMap<string, string> = new Map([
  ["allowNoPersistence: true", "--allow-no-persistence"],
  ["allowEviction: true", "--allow-eviction"],
  ["preparedStatements: false", "--no-prepared-statements"],
  ['"schema"', "--schema"],
  ['see "tokens" of createLatchkey', "set LATCHKEY_TOKEN_KEY"],
]);

/** What went wrong, in one line and in terms of the program's options. Users of a command have no use for a stack. */
export function messageOf(error: unknown): string {
  let message = error instanceof Error ? error.message : "unknown error";
  for (const [option, flag] of STORE_FLAGS) message = message.replace(option, flag);
  const lines = message.split("\n").map((line) => line.trim());
  return printable(lines.filter((line) => line !== "").join(" "));
}

/**
 * An error of the parser, reworded, because its own messages repeat what was typed, which may be a secret.
 *
 * @param command - The command, as far as it was recognised.
 */
export function parserComplaint({ code, message }: CommanderError, command: Command): UsageError {
  const [, named = ""] = /'(--[^='\s]*|[^'\s]*)/.exec(message) ?? [];
  const [, suggestion] = /\((Did you mean [^)]*)\)/.exec(message) ?? [];
  const hint = suggestion === undefined ? "" : `: ${suggestion.replace(/^D/, "d")}`;
  switch (code) {
    case "commander.unknownOption":
      return new UsageError(
        command.commands.length > 0
          ? `options come after the command: ${namesOf(command)}`
          : `unknown option ${named.startsWith("--") ? named : named.slice(0, 2)}${hint}`,
      );
    case "commander.unknownCommand":
      return new UsageError(`${wantsCommand(command)}${reversed(command) ?? hint}`);
    case "commander.help":
      return new UsageError(wantsCommand(command));
    case "commander.optionMissingArgument":
      return new UsageError(`${named} needs a value`);
    case "commander.missingMandatoryOptionValue":
      return new UsageError(`${named} is required`);
    case "commander.missingArgument":
      return new UsageError(`<${named}> is required`);
    case "commander.excessArguments":
      return new UsageError(
        command.commands.length > 0
          ? wantsCommand(command)
          : `too many arguments: expected ${expected(command)}${placeOfStore(command)}`,
      );
    default:
      return new UsageError("the arguments are not understood");
  }
}

/** An error of an operation, in terms of the command line: a field of the input is named by its option or argument. */
export function operationComplaint(error: unknown, command: Command | null): unknown {
  if (error instanceof LatchkeyError && error.reason === "missing-grants")
    return reworded(error, `${error.message}: ${wayToGrant(command)}`);
  if (!(error instanceof LatchkeyError) || error.code !== "BAD_REQUEST") return inTypedWords(error);
  const [issue] = error.issues;
  if (issue === undefined) return error;
  const message = fieldsAsTyped(issue.message, command);
  if (issue.path === "" || message.startsWith("exactly one of ")) return new UsageError(message);
  const [field = "", ...rest] = issue.path.split(".");
  const isItem = /^\d+$/.test(rest[0] ?? "");
  const item = isItem ? ` (item ${Number(rest[0]) + 1})` : "";
  const members = isItem ? rest.slice(1) : rest;
  const member = members.length === 0 ? "" : `: ${members.join(".")}`;
  return new UsageError(`${typedAs(field, command)}${item}${member} ${message}`);
}

/** What helps if roles or permissions do not exist. */
function wayToGrant(command: Command | null): string {
  const creates = command?.options.some(({ long }) => long === "--create") ?? false;
  return creates ? "pass --create, or create them first" : "create them first";
}

/** The name of an input field on the command line. */
function typedAs(field: string, command: Command | null): string {
  const typed = command === null ? undefined : typedNames(command).get(field);
  return typed ?? `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function wantsCommand(command: Command): string {
  return command.parent === null
    ? `the first argument must be a command: ${namesOf(command)}`
    : `${command.name()} must be followed by one of: ${namesOf(command)}`;
}

/** The hint for `list keys`, where `keys list` is a command; null for other arguments. */
function reversed({ args: [action, group], commands }: Command): string | null {
  const found = commands.find((command) => command.name() === group);
  const isCommand = found?.commands.some((command) => command.name() === action) ?? false;
  return isCommand ? `: did you mean ${group} ${action}?` : null;
}

const STORE_URL = /^(?:memory|sqlite|rediss?|redis\+cluster|postgres(?:ql)?):/;

/** The hint for the URL of a store that is given as an argument. */
function placeOfStore({ args, options }: Command): string {
  const hasOption = options.some(({ long }) => long === "--store");
  return hasOption && args.some((text) => STORE_URL.test(text))
    ? "; the URL of a store follows --store"
    : "";
}

function namesOf({ commands }: Command): string {
  return commands.map((command) => command.name()).join(", ");
}

function expected({ registeredArguments }: Command): string {
  const names = registeredArguments.map((argument) => `<${argument.name()}>`);
  return names.join(" ") || "options only";
}
