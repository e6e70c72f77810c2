import type { Encryption } from "@latchkey/transfer";
import type { Command } from "commander";
import { UsageError } from "../command-line/failures.js";
import { withFile } from "../command-line/files.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { addJsonOption, type JsonOption } from "../command-line/output.js";
import { readNewPassphrase } from "../command-line/passphrase.js";
import {
  addStoreOptions,
  openChosen,
  readStore,
  type StoreOptions,
} from "../command-line/store-options.js";
import { transferProgress } from "../command-line/transfer-progress.js";
import { namingOptions, printTransfer } from "../command-line/transfer-report.js";
import { list } from "../command-line/values.js";

interface Options extends StoreOptions, JsonOption {
  readonly out: string;
  readonly recipients?: string[];
  readonly passphrase?: true;
}

/** Adds `latchkey backup`: everything in a store, in a file. */
export function addBackup(program: Command, host: Host): void {
  const backup = program
    .command("backup")
    .description("write everything that a store holds to a file; the servers may go on")
    .requiredOption("--out <file>", "the file, which is not there yet")
    .option("--recipients <list>", "encrypt it for these recipients of age (age1…)", list)
    .option("--passphrase", "encrypt it with a passphrase, which is asked for, or read from stdin")
    .addHelpText("after", example("latchkey backup --store sqlite:./keys.db --out keys.lkb"));
  addJsonOption(addStoreOptions(backup)).action(async (options: Options) => {
    const encryption = await encryptionOf(options, host);
    const store = openChosen(readStore(options, host, "existing"));
    try {
      const transfer = await import("@latchkey/transfer");
      const onProgress = transferProgress(host);
      const wanted = encryption === undefined ? { onProgress } : { onProgress, encryption };
      const report = await withFile("--out", options.out, () =>
        transfer.backup(store, options.out, wanted),
      ).catch(namingOptions);
      printTransfer(host, options, report);
    } finally {
      await store.close();
    }
  });
}

async function encryptionOf(
  { recipients, passphrase }: Options,
  host: Host,
): Promise<Encryption | undefined> {
  if (recipients !== undefined && passphrase)
    throw new UsageError("--recipients and --passphrase exclude each other");
  if (recipients !== undefined) return { recipients };
  return passphrase ? { passphrase: await readNewPassphrase(host) } : undefined;
}
