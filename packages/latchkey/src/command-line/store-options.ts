import {
  createLatchkey,
  DEFAULT_WORKSPACE_ID,
  interceptStore,
  type KeyStore,
  type Latchkey,
  LatchkeyError,
  type LatchkeyOptions,
  type StoreMethod,
} from "@latchkey/core";
import type { Command } from "commander";
import { type KeyRings, keyRingsFromEnv } from "../key-rings-from-env.js";
import { type OpenStoreOptions, openStore } from "../open-store.js";
import { isInMemory, parseStoreUrl, type StoreUrl, withoutPassword } from "../store-url.js";
import { asUsageError, reworded, UsageError } from "./failures.js";
import { assertPath } from "./files.js";
import type { Host } from "./host.js";
import { assertWorkspace } from "./known-workspace.js";
import { workspaceIdOf } from "./values.js";

/** The values of {@link addStoreOptions}. */
export interface StoreOptions {
  readonly store?: string;
  readonly storeEnv?: string;
  readonly allowNoPersistence?: true;
  readonly allowEviction?: true;
  readonly schema?: string;
  readonly preparedStatements?: boolean;
}

/** The value of {@link addWorkspaceOption}. */
export interface WorkspaceOption {
  readonly workspace?: string;
}

/**
 * How a command uses a store. `durable`: something is created, so the store must outlive the program. `existing`: the store must
 * exist, because a mistyped file would be created and the work done where nobody looks. `any`: it may also be in memory.
 */
export type StoreUse = "any" | "durable" | "existing";

/** A store, as the command line names it. */
export interface StoreChoice {
  readonly url: string;
  /** The option or variable that it came from. */
  readonly called: string;
  readonly parsed: StoreUrl;
  readonly options: OpenStoreOptions;
}

const FORMS =
  "sqlite:./keys.db, sqlite:/var/lib/keys.db, redis://host:6379/0, rediss://host:6379/0 (TLS), redis+cluster://a:6379,b:6379, postgres://user@host/database";

/** Adds the options that select the store of a command. */
export function addStoreOptions(command: Command, use: StoreUse = "existing"): Command {
  const forms = use === "any" ? `${FORMS}, memory:, sqlite::memory:` : FORMS;
  return addServerOptions(
    command
      .option("--store <url>", `where keys live: ${forms}`)
      .option(
        "--store-env <variable>",
        "the environment variable that holds the URL, if it has a password",
      ),
  );
}

/** Adds the options that say which servers are accepted, and how to use them. */
export function addServerOptions(command: Command): Command {
  return command
    .option(
      "--allow-no-persistence",
      'Redis: accept a server without "appendonly yes", which loses keys and revocations when it stops',
    )
    .option(
      "--allow-eviction",
      'Redis: accept a server without "maxmemory-policy noeviction", which loses them when its memory is full',
    )
    .option("--schema <name>", "PostgreSQL: the schema that holds the tables (default: latchkey)")
    .option(
      "--no-prepared-statements",
      "PostgreSQL: do not prepare statements, as some poolers require (PgBouncer before 1.21)",
    );
}

/** Adds the option that names the workspace. */
export function addWorkspaceOption(command: Command): Command {
  return command.option(
    "--workspace <id>",
    `the workspace (default: ${DEFAULT_WORKSPACE_ID})`,
    workspaceIdOf("--workspace"),
  );
}

/**
 * The store named by `--store`, or else by `LATCHKEY_STORE`.
 *
 * @throws UsageError if there is none, or not one for this use.
 */
export function readStore(given: StoreOptions, host: Host, use: StoreUse): StoreChoice {
  const named = urlOf("--store", given.store, given.storeEnv, host);
  const url = named ?? host.env.LATCHKEY_STORE;
  if (url === undefined || url === "")
    throw new UsageError("--store is required, such as sqlite:./keys.db (or set LATCHKEY_STORE)");
  const calledByOption = given.storeEnv === undefined ? "--store" : "--store-env";
  return chooseStore(url, named === undefined ? "LATCHKEY_STORE" : calledByOption, given, use);
}

/**
 * The store of a URL. `called`: the option or variable for error messages.
 *
 * @throws UsageError if it is not a store, or not one for this use.
 */
export function chooseStore(
  url: string,
  called: string,
  given: StoreOptions,
  use: StoreUse,
): StoreChoice {
  const parsed = asUsageError(() => parseStoreUrl(url), '"url"', called);
  if (use !== "any" && isInMemory(parsed))
    throw new UsageError(
      use === "durable"
        ? `${called} must outlive this program: what is created in memory is lost at exit`
        : `${called} must be one that a server uses: a store in memory is lost at exit`,
    );
  if (parsed.kind === "sqlite" && !isInMemory(parsed))
    assertPath(called, parsed.path, use !== "existing");
  const redis = {
    allowNoPersistence: given.allowNoPersistence ?? false,
    allowEviction: given.allowEviction ?? false,
  };
  const { schema, preparedStatements } = given;
  return { url, called, parsed, options: { redis, postgres: { schema, preparedStatements } } };
}

/**
 * Opens a store chosen by {@link readStore}.
 *
 * @throws UsageError if the store does not accept its URL, or an option is wrong.
 */
export function openChosen({ url, called, options }: StoreChoice): KeyStore {
  return asUsageError(() => openStore(url, options), /^"(url|source|path)"/, called);
}

/** The workspace named by `--workspace`, or else by `LATCHKEY_WORKSPACE`, or else the default one. */
export function readWorkspace({ workspace }: WorkspaceOption, { env }: Host): string {
  if (workspace !== undefined) return workspace;
  const { LATCHKEY_WORKSPACE: set = "" } = env;
  return set === "" ? DEFAULT_WORKSPACE_ID : workspaceIdOf("LATCHKEY_WORKSPACE")(set);
}

/** The key rings of the environment. @throws UsageError that names the variable. */
export function readRings({ env }: Host): KeyRings {
  return asUsageError(() => keyRingsFromEnv(env));
}

/** The actor in the audit log for the command line. Requests over HTTP have their own. */
export const CLI_ACTOR = "cli";

/** Further options of the latchkey that a command uses. */
export interface LatchkeyExtras
  extends Pick<LatchkeyOptions, "notice" | "onError" | "onEvent" | "usage"> {
  /** Called with the name of each method of the store before the latchkey calls it. */
  readonly onStoreCall?: (method: StoreMethod) => void;
}

/** Runs `work` with a latchkey over a store and with the key rings of the environment, and closes it afterwards. */
export async function withStore(
  choice: StoreChoice,
  host: Host,
  work: (latchkey: Latchkey, store: KeyStore) => Promise<void>,
  { onStoreCall, ...extras }: LatchkeyExtras = {},
): Promise<void> {
  // Before the store: a wrong environment must not leave a new file behind.
  const keyRings = readRings(host);
  const opened = openChosen(choice);
  const store =
    onStoreCall === undefined
      ? opened
      : interceptStore(opened, ({ method }, run) => {
          onStoreCall(method);
          return run();
        });
  const clock = host.clock === undefined ? {} : { clock: host.clock };
  const latchkey = createLatchkey({ store, ...keyRings, ...clock, ...extras }).actingAs(CLI_ACTOR);
  try {
    await work(latchkey, store);
  } catch (error) {
    throw namingStore(error, choice);
  } finally {
    await latchkey.close();
  }
}

/** The error of an unavailable store says which one it is. */
export function namingStore(error: unknown, { url }: Pick<StoreChoice, "url">): unknown {
  if (!(error instanceof LatchkeyError) || error.code !== "STORE_UNAVAILABLE") return error;
  return reworded(error, `${error.message}; the store is ${withoutPassword(url)}`);
}

/**
 * Runs `work` in the workspace and on the store that the options name, and closes the store afterwards.
 *
 * @throws UsageError if the workspace was never created and is empty, because its id may be mistyped.
 */
export async function withLatchkey(
  given: StoreOptions & WorkspaceOption,
  host: Host,
  work: (latchkey: Latchkey, store: KeyStore) => Promise<void>,
  use: StoreUse = "existing",
  extras: LatchkeyExtras = {},
): Promise<void> {
  const workspaceId = readWorkspace(given, host);
  const choice = readStore(given, host, use);
  await withStore(
    choice,
    host,
    async (latchkey, store) => {
      const workspace = latchkey.workspace(workspaceId);
      if (!isInMemory(choice.parsed)) await assertWorkspace(workspace, store, given);
      await work(workspace, store);
    },
    extras,
  );
}

/**
 * The URL given by an option, or by the environment variable that `<option>-env` names, which other users of the machine cannot
 * see and no shell history keeps.
 *
 * @throws UsageError if both are given, or the variable is not set.
 */
export function urlOf(
  option: string,
  url: string | undefined,
  variable: string | undefined,
  { env }: Host,
): string | undefined {
  if (variable === undefined) return url;
  const naming = `--${option.replace(/[<>-]/g, "")}-env`;
  if (url !== undefined) throw new UsageError(`${option} and ${naming} cannot be used together`);
  // Somebody may have put the URL itself here, so it is not repeated.
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable))
    throw new UsageError(`${naming} must be the name of an environment variable`);
  if (env[variable]) return env[variable];
  throw new UsageError(`${naming} must name a variable that is set: ${variable} is not`);
}
