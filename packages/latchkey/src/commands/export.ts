import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from "node:fs";
import type { ExportFormat, ExportPage } from "@latchkey/import";
import type { Command } from "commander";
import { assertNew, withFile } from "../command-line/files.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { withIds } from "../command-line/named-ids.js";
import { progressLines } from "../command-line/progress.js";
import {
  addStoreOptions,
  addWorkspaceOption,
  type StoreOptions,
  type WorkspaceOption,
  withLatchkey,
} from "../command-line/store-options.js";
import { choiceOption } from "../command-line/values.js";
import { plural } from "../command-line/words.js";

interface Options extends StoreOptions, WorkspaceOption {
  readonly format: ExportFormat;
  readonly apiId?: string;
  readonly out?: string;
  readonly escapeFormulas?: true;
}

const FORMATS: readonly ExportFormat[] = ["jsonl", "csv"];

/** Only the owner may read the file: secrets can be guessed against the hashes in it. */
const PRIVATE_MODE = 0o600;

/** Adds `latchkey export`: writes keys with their hashes. */
export function addExport(program: Command, host: Host): void {
  const command = program
    .command("export")
    .description("write the keys of a workspace with their hashes but without secrets")
    .addOption(
      choiceOption("--format <format>", "how keys are written", FORMATS).makeOptionMandatory(),
    )
    .option("--api-id <id>", "only the keys of this API, by its id or its name")
    .option("--out <file>", "a new file to write to (default: stdout)")
    .option("--escape-formulas", "csv: escape names such as =… that a spreadsheet would run");
  addWorkspaceOption(addStoreOptions(command))
    .addHelpText(
      "after",
      example("latchkey export --format jsonl --out ./keys.jsonl --store sqlite:./keys.db"),
    )
    .action((options: Options) => runExport(options, host, command));
}

async function runExport(options: Options, host: Host, command: Command): Promise<void> {
  const { format, out, escapeFormulas } = options;
  const { exportHeader, exportKeys, exportText } = await import("@latchkey/import");
  await withLatchkey(options, host, async (from) => {
    const { apiId } = await withIds(from, { apiId: options.apiId }, command);
    const pages = exportKeys({ from, apiId });
    // Read before the file is created: an unknown API must not leave a file behind.
    const first = await pages.next();
    const [write, close] = await textWriter(out, host);
    let last = first.done ? undefined : first.value;
    let isWhole = false;
    try {
      write(exportHeader(format));
      const text = ({ keys }: ExportPage) => exportText(format, keys, { escapeFormulas });
      const show = progressLines(host);
      const take = (page: ExportPage) => {
        write(text(page));
        show(() => `${plural(page.exported, "key")} so far`);
      };
      if (last !== undefined) take(last);
      for await (last of pages) take(last);
      isWhole = true;
    } finally {
      await close(isWhole);
    }
    await host.printed();
    for (const line of summaryOf(last)) host.warn(line);
  });
}

function* summaryOf(page: ExportPage | undefined): Generator<string> {
  const { exported = 0, sealed = 0, peppered = 0, damaged = 0, damagedApis = 0 } = page ?? {};
  yield `${exported} keys`;
  if (sealed > 0) yield `${sealed} encrypted secrets were left out: only their hashes are exported`;
  if (peppered > 0) yield `${peppered} hashes work only with the pepper`;
  if (damaged > 0) yield `${damaged} keys cannot be read and were left out`;
  if (damagedApis > 0) yield `${damagedApis} APIs cannot be read: their keys were left out`;
}

async function textWriter(
  path: string | undefined,
  host: Host,
): Promise<[write: (text: string) => void, close: (isWhole: boolean) => Promise<void>]> {
  // The text already ends with a line break, and `print` adds another one.
  const print = (text: string) => text !== "" && host.print(text.slice(0, -1));
  if (path === undefined) return [print, async () => undefined];
  assertNew("--out", path);
  // An incomplete file looks like an export of fewer keys, so it gets its name only when all of it is on disk.
  const { giveName, partialPathOf } = await import("@latchkey/transfer/new-file");
  const partial = partialPathOf(path);
  const file = await withFile("--out", path, () => openSync(partial, "wx", PRIVATE_MODE));
  const close = async (isWhole: boolean) => {
    try {
      if (isWhole) fsyncSync(file);
      closeSync(file);
      if (isWhole) await withFile("--out", path, () => giveName(partial, path));
    } finally {
      rmSync(partial, { force: true });
    }
  };
  // Not writeSync: on a nearly full disk, it writes only a part, without an error.
  return [(text) => writeFileSync(file, text), close];
}
