import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { DEFAULT_WORKSPACE_ID } from "@latchkey/core";
import { createHandler, toNodeListener } from "@latchkey/http";
import type { SqliteStoreOptions } from "@latchkey/sqlite";
import {
  type Arguments,
  type Command,
  messageOf,
  readStore,
  readWholeNumber,
  readWorkspace,
  STORE_OPTIONS,
  UsageError,
  withLatchkey,
} from "../command-line.js";
import { ENVIRONMENT_HELP, REDIS_HELP, STORE_HELP } from "../help.js";
import { isInMemory } from "../store-url.js";

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_DRAIN_SECONDS = 10;

const help = `Usage: latchkey serve --store <url> --port <n> [options]

Serves the HTTP contract. Prints its address when it is ready. On SIGTERM or SIGINT it takes no more connections,
finishes the requests in flight, closes the store and exits with 0; a second signal ends it at once.

Options:
${STORE_HELP}
  --port <n>            0 to 65535; 0 picks a free one
  --host <host>         address to listen on (default ${DEFAULT_HOST})
  --public-verify       let keys.verifyKey be called without a root key
  --workspace <id>      the workspace whose keys --public-verify answers for (default ${DEFAULT_WORKSPACE_ID})
  --docs-base-url <url> where the page of each error code is: goes into error bodies
  --durability <level>  normal or full: full keeps the last uses through a power cut too (default normal)
${REDIS_HELP}
  --drain <seconds>     how long requests in flight may take after a signal, 0 to 600 (default ${DEFAULT_DRAIN_SECONDS})
  -h, --help            print this

With memory: or sqlite::memory: a root key that may do everything is printed on the second line, since nothing else
could issue one.

Example:
  latchkey serve --store sqlite:./keys.db --port 3000

${ENVIRONMENT_HELP}`;

/** `latchkey serve`: the HTTP contract over one store. */
export const serve: Command = {
  help,
  options: {
    ...STORE_OPTIONS,
    port: "text",
    host: "text",
    "public-verify": "flag",
    workspace: "text",
    "docs-base-url": "text",
    durability: "text",
    drain: "text",
  },
  positionals: [],
  async run(args, host) {
    const choice = readStore(args, host);
    const store = { ...choice, options: { ...choice.options, sqlite: readDurability(args) } };
    const { port, hostname, drainMs, docsBaseUrl } = readServerOptions(args);
    const workspaceId = readWorkspace(args);
    await withLatchkey(store, host, async (everyWorkspace) => {
      const latchkey = everyWorkspace.workspace(workspaceId);
      const handler = createHandler({
        latchkey,
        publicVerify: args.flags.has("public-verify"),
        ...(docsBaseUrl !== undefined && { docsBaseUrl }),
        onError: (error, requestId) => host.warn(`${requestId} failed: ${messageOf(error)}`),
      });
      // A server whose store is not there must not say that it is ready.
      await latchkey.isWorkspaceEnabled();
      const server = createServer(toNodeListener(handler));
      const stopped = stopSignal();
      host.print(await listen(server, hostname, port));
      if (isInMemory(store.parsed)) {
        host.print((await latchkey.createRootKey({ permissions: ["*"] })).key);
      }
      await stopped;
      await drain(server, drainMs);
    });
  },
};

function readServerOptions({ texts }: Arguments) {
  const port = texts.get("port");
  if (port === undefined)
    throw new UsageError("--port is required: 0 to 65535, 0 picks a free one");
  const drainSeconds = texts.get("drain") ?? String(DEFAULT_DRAIN_SECONDS);
  const docsBaseUrl = texts.get("docs-base-url");
  if (
    docsBaseUrl !== undefined &&
    !(/^https?:\/\//i.test(docsBaseUrl) && URL.canParse(docsBaseUrl))
  ) {
    throw new UsageError("--docs-base-url must be a URL that begins with https:// or http://");
  }
  return {
    port: readWholeNumber("--port", port, 0, 65_535),
    hostname: texts.get("host") ?? DEFAULT_HOST,
    drainMs: readWholeNumber("--drain", drainSeconds, 0, 600) * 1_000,
    docsBaseUrl,
  };
}

function readDurability({ texts }: Arguments): SqliteStoreOptions {
  const durability = texts.get("durability") ?? "normal";
  if (durability !== "normal" && durability !== "full") {
    throw new UsageError("--durability must be normal or full");
  }
  return { durability };
}

/** Resolves with the first SIGTERM or SIGINT. The next one ends the process, as it would have without this. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      process.off("SIGTERM", stop).off("SIGINT", stop);
      resolve();
    };
    process.on("SIGTERM", stop).on("SIGINT", stop);
  });
}

/** Listens, and answers the address as a URL. */
function listen(server: Server, hostname: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const reason =
        error.code === "EADDRINUSE" ? "the port is in use" : (error.code ?? error.message);
      reject(new Error(`cannot listen on ${hostname} port ${port}: ${reason}`, { cause: error }));
    });
    server.listen({ host: hostname, port }, () => {
      const { port: actual } = server.address() as AddressInfo;
      resolve(`http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${actual}`);
    });
  });
}

/** Takes no more connections, lets requests in flight finish for at most `drainMs`, then cuts what is left. */
function drain(server: Server, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), drainMs);
    // A kept-alive connection falls idle only after its last answer, and would hold the server open till its timeout.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(sweep);
      resolve();
    });
  });
}
