import type { KeyStore } from "@latchkey/core";
import type { Command } from "commander";
import { UsageError } from "../command-line/failures.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { openNamed } from "../command-line/named-store.js";
import { addJsonOption, type JsonOption } from "../command-line/output.js";
import { addServerOptions, type StoreOptions } from "../command-line/store-options.js";
import { transferProgress } from "../command-line/transfer-progress.js";
import { printTransfer } from "../command-line/transfer-report.js";

interface Options extends StoreOptions, JsonOption {
  readonly from?: string;
  readonly fromEnv?: string;
  readonly to?: string;
  readonly toEnv?: string;
  readonly toSchema?: string;
  readonly live?: true;
  readonly startOver?: true;
  readonly takeBack?: true;
  readonly force?: true;
}

/** Adds `latchkey copy`: all keys from one store to another. */
export function addCopy(program: Command, host: Host): void {
  const copy = program
    .command("copy")
    .description("copy everything from one store to another, whichever they are")
    .option("--from <url>", "the store that has the keys")
    .option("--from-env <variable>", "the environment variable that holds it, if it has a password")
    .option("--to <url>", "an empty store, or one with an unfinished copy of the same source")
    .option("--to-env <variable>", "the environment variable that holds it, if it has a password")
    .option(
      "--to-schema <name>",
      "PostgreSQL: the schema of --to, where it is another than --schema",
    )
    .option(
      "--live",
      "the servers of the source keep running; at the end the keys have moved, for good",
    )
    .option(
      "--start-over",
      "delete first what another copy or restore left half done in the target",
    )
    .option("--take-back", "cancel a live copy that did not finish: the source is in charge again")
    .option(
      "--force",
      "with --take-back: also from a target that serves, which is closed, or that is lost: then leave --to out",
    )
    .addHelpText(
      "after",
      example("latchkey copy --from sqlite:./keys.db --to postgres://app@localhost/app --live"),
    );
  addJsonOption(addServerOptions(copy)).action(async (options: Options) => {
    const { live = false, startOver = false, takeBack = false, force = false } = options;
    if (live && takeBack) throw new UsageError("--take-back and --live exclude each other");
    if (startOver && takeBack)
      throw new UsageError("--take-back and --start-over exclude each other");
    if (force && !takeBack) throw new UsageError("--force is for --take-back alone");
    const isToGiven = options.to !== undefined || options.toEnv !== undefined;
    if (!isToGiven && !force) throw new UsageError("--to is required");
    const source = { url: options.from, variable: options.fromEnv };
    const from = openNamed("--from", source, options, host, "existing");
    let to: KeyStore | null = null;
    try {
      const target = { ...options, ...(options.toSchema && { schema: options.toSchema }) };
      const place = { url: options.to, variable: options.toEnv };
      if (isToGiven) to = openNamed("--to", place, target, host, "durable");
      const transfer = await import("@latchkey/transfer");
      if (takeBack || to === null) {
        await transfer.takeBack(from, to, { force });
        host.print("the source is in charge");
        return;
      }
      const onProgress = transferProgress(host);
      printTransfer(host, options, await transfer.copy(from, to, { live, startOver, onProgress }));
    } finally {
      await to?.close();
      await from.close();
    }
  });
}
