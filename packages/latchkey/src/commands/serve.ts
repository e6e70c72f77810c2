import { createServer } from "node:http";
import type { KeyStore, Latchkey } from "@latchkey/core";
import type { Durability } from "@latchkey/sqlite";
import type { Command } from "commander";
import { messageOf } from "../command-line/complaints.js";
import { UsageError } from "../command-line/failures.js";
import { span } from "../command-line/fields.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { assertWorkspace } from "../command-line/known-workspace.js";
import {
  addStoreOptions,
  addWorkspaceOption,
  readStore,
  readWorkspace,
  type StoreOptions,
  type WorkspaceOption,
  withStore,
} from "../command-line/store-options.js";
import { choiceOption, oneOf, wholeNumber } from "../command-line/values.js";
import { LOG_FORMATS, type LogFormat, withAccessLog } from "../serving/access-log.js";
import { drainOf, listen, stopSignal } from "../serving/listening.js";
import { withRootPath } from "../serving/root-path.js";
import { isInMemory } from "../store-url.js";

interface Options extends StoreOptions, WorkspaceOption {
  readonly port?: number;
  readonly host?: string;
  readonly log?: LogFormat;
  readonly publicVerify?: true;
  readonly docsBaseUrl?: string;
  readonly durability: Durability;
  readonly drain: number;
  readonly durableUsage?: true;
  readonly notice?: true;
  readonly expiresWithin?: number;
  readonly usesBelow?: number;
  readonly limitAbove?: number;
}

const DEFAULT_HOST = "127.0.0.1";

const DURABILITIES: readonly Durability[] = ["normal", "full"];

const DESCRIPTION = `serve the HTTP contract

Prints its address when it is ready. On SIGTERM, SIGINT or SIGHUP it accepts no more connections, finishes the requests in flight, closes the store and exits with 0; a second SIGTERM or SIGINT ends it at once. With memory: or sqlite::memory: a root key with all permissions is printed on the second line, since no other process could issue one.`;

/** Adds `latchkey serve`: the HTTP contract over one store. */
export function addServe(program: Command, host: Host): void {
  const serve = program
    .command("serve")
    .summary("serve the HTTP contract")
    .description(DESCRIPTION)
    .addHelpText("after", example("latchkey serve --store sqlite:./keys.db --port 3000"));
  addServerOptions(serve);
  addWorkspaceOption(addStoreOptions(serve, "any")).action((options: Options) =>
    runServer(options, host),
  );
}

function addServerOptions(serve: Command): void {
  serve
    .option(
      "--port <n>",
      "0 to 65535; 0 picks a free one (default: PORT of the environment)",
      wholeNumber("--port", 0, 65_535),
    )
    .option(
      "--host <host>",
      `address to listen on (default: LATCHKEY_HOST of the environment, or ${DEFAULT_HOST})`,
    )
    .addOption(
      choiceOption(
        "--log <format>",
        "a line on stdout for each request (default: LATCHKEY_LOG of the environment, or none)",
        LOG_FORMATS,
      ),
    )
    .option("--public-verify", "let keys.verifyKey be called without a root key")
    .option(
      "--docs-base-url <url>",
      "base URL of the pages about error codes, for error bodies (default: its own, /v1/errors)",
      readDocsBaseUrl,
    )
    .addOption(
      choiceOption(
        "--durability <level>",
        "SQLite: full keeps the last uses even after a power cut",
        DURABILITIES,
      ).default("normal"),
    )
    .option(
      "--drain <seconds>",
      "how long requests in flight may take after a signal, 0 to 600",
      wholeNumber("--drain", 0, 600),
      10,
    )
    .option(
      "--durable-usage",
      "count each verification in the step that charges it, so that a crash loses no count; makes each verification a write",
    )
    .option(
      "--notice",
      "write events when uses are low or gone, and when limits are nearly reached, as this server sees them",
    )
    .option(
      "--expires-within <span>",
      "with --notice: how far ahead an expiry counts as soon, for events.notice (default: 7d)",
      span("--expires-within", 1),
    )
    .option(
      "--uses-below <n>",
      "with --notice: how many uses count as low: a whole number, or a share of a refill, such as 0.1 (default: none)",
      fewUses,
    )
    .option(
      "--limit-above <share>",
      "with --notice: the share of a limit from which it counts as nearly reached (default: 0.8)",
      shareOf("--limit-above", "a share between 0 and 1"),
    );
}

/** A share between 0 and 1, both exclusive. */
function shareOf(name: string, form: string): (text: string) => number {
  return (text) => {
    const share = /^0?\.\d+$/.test(text) ? Number(text) : 0;
    if (share > 0) return share;
    throw new UsageError(`${name} must be ${form}`);
  };
}

function fewUses(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count >= 1 && Number.isSafeInteger(count)) return count;
  return shareOf("--uses-below", "a whole number >= 1, or a share between 0 and 1")(text);
}

/** @throws UsageError if an option of notices is given without `--notice`. */
function noticeOf({ notice, expiresWithin, usesBelow, limitAbove }: Options) {
  const settings = {
    ...(expiresWithin !== undefined && { expiresWithin }),
    ...(usesBelow !== undefined && { usesBelow }),
    ...(limitAbove !== undefined && { limitAbove }),
  };
  if (notice === true) return { notice: settings };
  if (Object.keys(settings).length === 0) return {};
  throw new UsageError("--expires-within, --uses-below and --limit-above need --notice");
}

/** Wildcard addresses. They cannot be used in a link. */
const EVERY_ADDRESS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

async function runServer(options: Options, host: Host): Promise<void> {
  const choice = readStore(options, host, "any");
  const { durability, docsBaseUrl, publicVerify = false } = options;
  const withDurability = { ...choice, options: { ...choice.options, sqlite: { durability } } };
  const port = readPort(options, host);
  const hostname = options.host ?? (host.env.LATCHKEY_HOST || DEFAULT_HOST);
  const log = readLogFormat(options, host);
  const workspaceId = readWorkspace(options, host);
  const settings = {
    ...noticeOf(options),
    ...(options.durableUsage && { usage: { durable: true } }),
  };
  const serve = async (everyWorkspace: Latchkey, store: KeyStore) => {
    // Loaded here, because only this command serves HTTP, and the contract takes the longest to load.
    const { createHandler, toNodeListener } = await import("@latchkey/http");
    const latchkey = everyWorkspace.workspace(workspaceId);
    if (!isInMemory(choice.parsed)) await assertWorkspace(latchkey, store, options);
    // Without its store, the server must not say that it is ready.
    await latchkey.isWorkspaceEnabled();
    const server = createServer();
    const drain = drainOf(server);
    const stopped = stopSignal();
    const address = await listen(server, hostname, port);
    const docs = docsBaseUrl ?? (EVERY_ADDRESS.has(hostname) ? null : `${address}/v1/errors`);
    const handler = createHandler({
      latchkey,
      publicVerify,
      ...(docs !== null && { docsBaseUrl: docs }),
      onError: (error, requestId) => host.warn(`${requestId} failed: ${messageOf(error)}`),
    });
    const listener = withRootPath(toNodeListener(handler));
    server.on("request", withAccessLog(listener, log, host.print, Date.now));
    host.print(address);
    // The reader of the log may be restarted without the server.
    host.keepGoing();
    if (isInMemory(choice.parsed))
      host.print((await latchkey.createRootKey({ permissions: ["*"] })).key);
    await stopped;
    await drain(options.drain * 1_000);
  };
  await withStore(withDurability, host, serve, settings);
}

/** The port named by `--port`, or else by `PORT`, which most hosts of programs set. */
function readPort({ port }: Options, { env }: Host): number {
  if (port !== undefined) return port;
  const { PORT = "" } = env;
  if (PORT === "")
    throw new UsageError("--port is required: 0 to 65535, 0 picks a free one (or set PORT)");
  return wholeNumber("PORT", 0, 65_535)(PORT);
}

function readLogFormat({ log }: Options, { env }: Host): LogFormat {
  return log ?? oneOf("LATCHKEY_LOG", LOG_FORMATS)(env.LATCHKEY_LOG || "none");
}

function readDocsBaseUrl(text: string): string {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text;
  throw new UsageError("--docs-base-url must be a URL that begins with https:// or http://");
}
