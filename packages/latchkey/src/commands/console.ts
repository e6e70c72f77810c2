import { createServer } from "node:http";
import type { Command } from "commander";
import { messageOf } from "../command-line/complaints.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import {
  addStoreOptions,
  addWorkspaceOption,
  readRings,
  type StoreOptions,
  type WorkspaceOption,
  withLatchkey,
} from "../command-line/store-options.js";
import { wholeNumber } from "../command-line/values.js";
import { examine } from "../doctor/examination.js";
import { drainOf, listen, stopSignal } from "../serving/listening.js";

interface Options extends StoreOptions, WorkspaceOption {
  readonly port: number;
}

const DESCRIPTION = `open a console for keys in a browser

Listens on 127.0.0.1 only, and prints a link that works once. Anyone who opens it has all permissions in the workspace. The sign-in lasts 12 hours, or until the program stops (SIGTERM, SIGINT or SIGHUP).`;

/** Only this machine can connect to it. */
const LOOPBACK = "127.0.0.1";

/** How long requests in flight may take at the end, in ms. They are those of one page. */
const DRAIN_MS = 1_000;

/** Adds `latchkey console`: the console over one store, for the user of this machine. */
export function addConsole(program: Command, host: Host): void {
  const command = program
    .command("console")
    .summary("open a console for keys in a browser")
    .description(DESCRIPTION)
    .option("--port <n>", "0 to 65535; 0 picks a free one", wholeNumber("--port", 0, 65_535), 0)
    .addHelpText("after", example("latchkey console --store sqlite:./keys.db"));
  addWorkspaceOption(addStoreOptions(command, "any")).action((options: Options) =>
    runConsole(options, host),
  );
}

async function runConsole(options: Options, host: Host): Promise<void> {
  const rings = readRings(host);
  await withLatchkey(
    options,
    host,
    async (latchkey, store) => {
      const { createLinkConsole } = await import("@latchkey/console");
      // Without its store, the console must not say that it is ready.
      await latchkey.isWorkspaceEnabled();
      const server = createServer();
      const drain = drainOf(server);
      const stopped = stopSignal();
      // A URL omits port 80.
      const port = new URL(await listen(server, LOOPBACK, options.port)).port || "80";
      const { listener, link } = createLinkConsole(latchkey, {
        port: Number(port),
        examine: () => examine({ latchkey, store, fix: false, rings }),
        onError: (error) => host.warn(`a request failed: ${messageOf(error)}`),
      });
      server.on("request", listener);
      host.print(link);
      host.warn("open this link, which works once. Ctrl+C stops the console");
      await stopped;
      await drain(DRAIN_MS);
    },
    "any",
  );
}
