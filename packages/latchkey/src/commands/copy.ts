import type { KeyStore } from "@latchkey/core";
import type { Command } from "commander";
import { UsageError } from "../command-line/failures.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { openNamed } from "../command-line/named-store.js";
import { addJsonOption, type JsonOption } from "../command-line/output.js";
import { transferProgress } from "../command-line/progress.js";
import { addServerOptions, type StoreOptions } from "../command-line/store-options.js";
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
    .description("copy everything from one store to another, of the same or another kind")
    .option("--from <url>", "the store to copy from")
    .option(
      "--from-env <variable>",
      "the environment variable that holds the URL, if it has a password",
    )
    .option("--to <url>", "an empty store, or one with an unfinished copy of the same source")
    .option(
      "--to-env <variable>",
      "the environment variable that holds the URL, if it has a password",
    )
    .option("--to-schema <name>", "PostgreSQL: the schema of --to, if it differs from --schema")
    .option(
      "--live",
      "copy while the servers of the source keep running; at the end the keys have moved for good",
    )
    .option("--start-over", "first delete what an unfinished copy or restore left in the target")
    .option("--take-back", "cancel a live copy that did not finish: the source is in charge again")
    .option(
      "--force",
      "with --take-back: even if the target serves (it is closed) or is lost (then omit --to)",
    )
    .addHelpText(
      "after",
      example("latchkey copy --from sqlite:./keys.db --to postgres://app@localhost/app --live"),
    );
  addJsonOption(addServerOptions(copy)).action(async (options: Options) => {
    const { live = false, startOver = false, takeBack = false, force = false } = options;
    if (live && takeBack) throw new UsageError("--take-back and --live cannot be used together");
    if (startOver && takeBack)
      throw new UsageError("--take-back and --start-over cannot be used together");
    if (force && !takeBack) throw new UsageError("--force needs --take-back");
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
