import { readFileSync, statSync } from "node:fs";
import type { KeyStore } from "@latchkey/core";
import type { Decryption } from "@latchkey/transfer";
import type { Command } from "commander";
import { UsageError } from "../command-line/failures.js";
import { assertReadable, withFile } from "../command-line/files.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { openForTransfer } from "../command-line/named-store.js";
import { addJsonOption, type JsonOption } from "../command-line/output.js";
import { readPassphrase } from "../command-line/passphrase.js";
import { transferProgress } from "../command-line/progress.js";
import { addStoreOptions, readStore, type StoreOptions } from "../command-line/store-options.js";
import { namingOptions, printTransfer } from "../command-line/transfer-report.js";

interface Options extends StoreOptions, JsonOption {
  readonly in: string;
  readonly identity?: string;
  readonly passphrase?: true;
  readonly startOver?: true;
}

/** Adds `latchkey restore`: writes a backup to an empty store. */
export function addRestore(program: Command, host: Host): void {
  const restore = program
    .command("restore")
    .description("write a backup to an empty store")
    .requiredOption("--in <file>", "the backup")
    .option("--identity <file>", "the file with the age identity that decrypts it")
    .option("--passphrase", "decrypt it with a passphrase, from a prompt or from stdin")
    .option("--start-over", "first delete what an unfinished copy or restore left in the store")
    .addHelpText("after", example("latchkey restore --store sqlite:./new.db --in keys.lkb"));
  addJsonOption(addStoreOptions(restore, "durable")).action(async (options: Options) => {
    // Checked before the store is opened: an unreadable backup must not leave a new file behind.
    await assertReadable("--in", options.in);
    if (!statSync(options.in).isFile())
      throw new UsageError("--in must name a file, not a pipe: the backup is read twice");
    const decryption = await decryptionOf(options, host);
    const choice = readStore(options, host, "durable");
    const opened: KeyStore[] = [];
    // Called once the backup is found to be complete: a damaged one must not leave a new store behind either.
    const open = () => {
      const store = openForTransfer(choice);
      opened.push(store);
      return store;
    };
    try {
      const transfer = await import("@latchkey/transfer");
      const { startOver = false } = options;
      const wanted = { startOver, onProgress: transferProgress(host) };
      const report = await transfer
        .restore(open, options.in, { ...wanted, ...(decryption !== undefined && { decryption }) })
        .catch(namingOptions);
      printTransfer(host, options, report);
    } finally {
      for (const store of opened) await store.close();
    }
  });
}

async function decryptionOf(
  { identity, passphrase }: Options,
  host: Host,
): Promise<Decryption | undefined> {
  if (identity !== undefined && passphrase)
    throw new UsageError("--identity and --passphrase cannot be used together");
  if (identity === undefined)
    return passphrase ? { passphrase: await readPassphrase(host) } : undefined;
  const text = await withFile("--identity", identity, () => readFileSync(identity, "utf8"));
  const key = text.split(/\r?\n/).find((line) => line.startsWith("AGE-SECRET-KEY-"));
  if (key === undefined) throw new UsageError("--identity must name a file written by age-keygen");
  return { identity: key };
}
