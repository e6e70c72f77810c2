import type { Encryption } from "@latchkey/transfer";
import type { Command } from "commander";
import { UsageError } from "../command-line/failures.js";
import { assertNew, withFile } from "../command-line/files.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { openForTransfer } from "../command-line/named-store.js";
import { addJsonOption, type JsonOption } from "../command-line/output.js";
import { readNewPassphrase } from "../command-line/passphrase.js";
import { transferProgress } from "../command-line/progress.js";
import { addStoreOptions, readStore, type StoreOptions } from "../command-line/store-options.js";
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
    .description("write everything in a store to a file, while its servers keep running")
    .requiredOption("--out <file>", "the new file, which must not exist yet")
    .option("--recipients <list>", "encrypt it for these age recipients (age1…)", list)
    .option("--passphrase", "encrypt it with a passphrase, from a prompt or from stdin")
    .addHelpText("after", example("latchkey backup --store sqlite:./keys.db --out keys.lkb"));
  addJsonOption(addStoreOptions(backup)).action(async (options: Options) => {
    assertNew("--out", options.out);
    const encryption = await encryptionOf(options, host);
    const store = openForTransfer(readStore(options, host, "existing"));
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
    throw new UsageError("--recipients and --passphrase cannot be used together");
  if (recipients !== undefined) return { recipients };
  return passphrase ? { passphrase: await readNewPassphrase(host) } : undefined;
}
