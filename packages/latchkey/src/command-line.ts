import { parseArgs } from "node:util";
import {
  createLatchkey,
  DEFAULT_WORKSPACE_ID,
  type KeyStore,
  type Latchkey,
  LatchkeyError,
  WORKSPACE_ID_PATTERN,
} from "@latchkey/core";
import { keyRingsFromEnv } from "./key-rings-from-env.js";
import { type OpenStoreOptions, openStore } from "./open-store.js";
import { parseStoreUrl, type StoreUrl } from "./store-url.js";

/** A wrong argument: one line that names it and its bound. The program ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What a command is given beside its arguments. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes one line to stdout. */
  readonly print: (line: string) => void;
  /** Writes one line to stderr. */
  readonly warn: (line: string) => void;
}

/** One command of the program. */
export interface Command {
  /** Usage, options, an example and the environment, as `--help` prints it. */
  readonly help: string;
  /** Options that take a value, and those that do not. */
  readonly options: Readonly<Record<string, "text" | "flag">>;
  /** What stands beside the options, in order, for messages. */
  readonly positionals: readonly string[];
  /** Resolves when the command has done its work. */
  run(args: Arguments, host: Host): Promise<void>;
}

/** Arguments of one command, read but not yet judged. */
export interface Arguments {
  readonly texts: ReadonlyMap<string, string>;
  readonly flags: ReadonlySet<string>;
  readonly positionals: readonly string[];
}

/**
 * Reads the arguments of a command. `--help` and `-h` are known to every command and silence every complaint.
 *
 * @throws UsageError naming the option. A value is never repeated: it may be a secret.
 */
export function readArguments(
  args: readonly string[],
  command: Pick<Command, "options" | "positionals">,
): Arguments {
  const options: Command["options"] = { ...command.options, help: "flag" };
  const { tokens } = parseArgs({
    args: [...args],
    options: {
      ...Object.fromEntries(
        Object.entries(options).map(([name, kind]) => [name, { type: parserType(kind) }]),
      ),
      help: { type: "boolean", short: "h" },
    },
    // Its own complaints repeat values; the tokens tell as much.
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const texts = new Map<string, string>();
  const flags = new Set<string>();
  const positionals: string[] = [];
  const problems: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value, inlineValue } = token;
    const kind = Object.hasOwn(options, name) ? options[name] : undefined;
    if (kind === undefined) problems.push(`unknown option ${rawName}`);
    else if (texts.has(name) || flags.has(name)) problems.push(`${rawName} must be given once`);
    else if (kind === "flag") {
      if (value !== undefined) problems.push(`${rawName} takes no value`);
      flags.add(name);
    } else if (value === undefined || value === "" || (!inlineValue && /^-(?!\d)/.test(value))) {
      problems.push(`${rawName} needs a value`);
    } else texts.set(name, value);
  }
  if (positionals.length > command.positionals.length) {
    const wanted = command.positionals.join(" ") || "options only";
    problems.push(`too many arguments: expected ${wanted}`);
  }
  const [problem] = problems;
  if (problem !== undefined && !flags.has("help")) throw new UsageError(problem);
  return { texts, flags, positionals };
}

function parserType(kind: "text" | "flag"): "string" | "boolean" {
  return kind === "text" ? "string" : "boolean";
}

/** A store, as the command line names it. */
export interface StoreChoice {
  readonly url: string;
  readonly parsed: StoreUrl;
  readonly options: OpenStoreOptions;
}

/** The options by which a command gets its store. */
export const STORE_OPTIONS = {
  store: "text",
  "allow-no-persistence": "flag",
  "allow-eviction": "flag",
} as const;

/** What a store calls an option of its own in a complaint, and what it is called here. */
const STORE_FLAGS: ReadonlyMap<string, string> = new Map([
  ["allowNoPersistence: true", "--allow-no-persistence"],
  ["allowEviction: true", "--allow-eviction"],
]);

/** The store named by `--store`, or else by `LATCHKEY_STORE`. */
export function readStore({ texts, flags }: Arguments, { env }: Host): StoreChoice {
  const url = texts.get("store") ?? env.LATCHKEY_STORE;
  if (url === undefined || url === "") {
    throw new UsageError("--store is required, such as sqlite:./keys.db (or set LATCHKEY_STORE)");
  }
  const redis = {
    allowNoPersistence: flags.has("allow-no-persistence"),
    allowEviction: flags.has("allow-eviction"),
  };
  const parsed = asUsageError(() => parseStoreUrl(url), '"url"', "--store");
  return { url, parsed, options: { redis } };
}

/** The workspace named by `text`, which was given as `argument`. */
export function readWorkspaceId(argument: string, text: string): string {
  if (!WORKSPACE_ID_PATTERN.test(text)) {
    throw new UsageError(`${argument} must be 1 to 64 characters of A-Z a-z 0-9 _ -`);
  }
  return text;
}

/** The workspace named by `--workspace`, or else the default one. */
export function readWorkspace({ texts }: Arguments): string {
  return readWorkspaceId("--workspace", texts.get("workspace") ?? DEFAULT_WORKSPACE_ID);
}

/** A whole number from `min` to `max`, written in decimal digits. */
export function readWholeNumber(argument: string, text: string, min: number, max: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) {
    throw new UsageError(`${argument} must be a whole number from ${min} to ${max}`);
  }
  return value;
}

/** Whom the audit log names for what is done with a command; what comes over HTTP is its caller's. */
const CLI_ACTOR = "cli";

/** Does `work` with a latchkey over the store and with the key rings of the environment, and closes it after. */
export async function withLatchkey(
  store: StoreChoice,
  { env }: Host,
  work: (latchkey: Latchkey, keyStore: KeyStore) => Promise<void>,
): Promise<void> {
  // Before the store: a wrong environment must not leave a new file behind.
  const keyRings = asUsageError(() => keyRingsFromEnv(env));
  const keyStore = openStore(store.url, store.options);
  const latchkey = createLatchkey({ store: keyStore, ...keyRings }).actingAs(CLI_ACTOR);
  try {
    await work(latchkey, keyStore);
  } finally {
    await latchkey.close();
  }
}

/** A complaint about an input field, made one about the option of the same name. */
export function asOptionError(error: unknown): unknown {
  if (!(error instanceof LatchkeyError) || error.code !== "BAD_REQUEST") return error;
  const [issue] = error.issues;
  if (issue === undefined) return error;
  const [field, index] = issue.path.split(".");
  const place = index === undefined ? "" : ` (item ${Number(index) + 1})`;
  return new UsageError(`--${field}${place} ${issue.message}`);
}

/** What went wrong, in one line and in options of the program: a stack is of no use to whoever typed the command. */
export function messageOf(error: unknown): string {
  let message = error instanceof Error ? error.message : "unknown error";
  for (const [option, flag] of STORE_FLAGS) message = message.replace(option, flag);
  const lines = message.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "").join(" ");
}

/** Turns the complaint about an argument into one about what was typed: `called` is what it names as `name`. */
function asUsageError<Value>(read: () => Value, name = "", called = ""): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message.replace(name, called));
    throw error;
  }
}
