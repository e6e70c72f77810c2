import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import type { ImportReport, KeyMap, RowReport, SourceKind } from "@latchkey/import";
import type { Command } from "commander";
import { asUsageError, Refused, UsageError } from "../command-line/failures.js";
import { assertNotStdout, assertOwn, withFile } from "../command-line/files.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { assertWorkspace } from "../command-line/known-workspace.js";
import { withIds } from "../command-line/named-ids.js";
import { addJsonOption, type JsonOption, printLine } from "../command-line/output.js";
import { progressLines } from "../command-line/progress.js";
import {
  addStoreOptions,
  addWorkspaceOption,
  readStore,
  readWorkspace,
  type StoreChoice,
  type StoreOptions,
  urlOf,
  type WorkspaceOption,
  withStore,
} from "../command-line/store-options.js";
import { apiNameOf, choiceOption } from "../command-line/values.js";

interface Options extends StoreOptions, WorkspaceOption, JsonOption {
  readonly from: SourceKind;
  readonly placeEnv?: string;
  readonly map?: string;
  readonly apiId?: string;
  readonly apiName?: string;
  readonly table?: string;
  readonly delimiter?: string;
  readonly report?: string;
  readonly dryRun?: true;
}

const SOURCES: readonly SourceKind[] = ["better-auth", "unkey", "csv", "jsonl"];

/** Adds `latchkey import`: imports keys of another system. */
export function addImport(program: Command, host: Host): void {
  const command = program
    .command("import")
    .description(
      "take over keys of another system, which keep working; existing keys stay unchanged, so you can run it again",
    )
    .argument(
      "[place]",
      "a file, or the database of better-auth: sqlite:./auth.db, postgres://user@host/database",
    )
    .option(
      "--place-env <variable>",
      "the environment variable that holds the URL, if it has a password",
    )
    .addOption(choiceOption("--from <kind>", "the kind of source", SOURCES).makeOptionMandatory())
    .option("--map <file>", "csv and jsonl: a JSON file that maps columns to fields")
    .option(
      "--api-id <id>",
      "the API of all keys, by its id or its name (default: each row names its own)",
    )
    .option(
      "--api-name <name>",
      "the API of all keys, by its name; created if there is none",
      apiNameOf("--api-name"),
    )
    .option("--table <name>", "better-auth: the table of its keys (default: apikey)")
    .option(
      "--delimiter <text>",
      "csv: the separator between columns, \\t for a tab (default: a comma)",
      (text) => text.replace(/^\\t$/, "\t"),
    )
    .option(
      "--report <file>",
      "write one line of JSON per row to this file: its outcome, and the reason",
    )
    .option("--dry-run", "write nothing; only show what would be written");
  addJsonOption(addWorkspaceOption(addStoreOptions(command, "durable")))
    .addHelpText(
      "after",
      example(
        "latchkey import ./keys.csv --from csv --api-name tiles --store sqlite:./keys.db --dry-run",
      ),
    )
    .action((given: string | undefined, options: Options) => {
      const place = urlOf("<place>", given, options.placeEnv, host);
      if (place === undefined) throw new UsageError("<place> is required");
      return runImport(place, options, host, command);
    });
}

async function runImport(
  place: string,
  options: Options,
  host: Host,
  command: Command,
): Promise<void> {
  const { apiName, dryRun = false } = options;
  if (options.apiId !== undefined && apiName !== undefined)
    throw new UsageError("--api-id and --api-name cannot be used together");
  // Only this command needs the readers of files and databases.
  const { formatReport, importKeys, openSource } = await import("@latchkey/import");
  const map = options.map === undefined ? {} : readMap(options.map);
  const { table, delimiter } = options;
  const from = asUsageError(
    () => openSource(options.from, place, { map, table, delimiter }),
    /^/,
    "--map: ",
  );
  // All arguments are checked before the store is opened: a failed import must not leave a new file behind.
  const choice = chooseStore(options, host);
  const workspaceId = readWorkspace(options, host);
  const rows = from.rows[Symbol.asyncIterator]();
  if (options.report !== undefined)
    assertOwn("--report", options.report, filesOf(place, options, choice));
  const [write, close] = await reportWriter(options.report);
  try {
    const first = await withFile("<place>", place, () => rows.next());
    await withStore(choice, host, async (latchkey, store) => {
      const into = latchkey.workspace(workspaceId);
      if (choice.url !== "memory:") await assertWorkspace(into, store, options);
      const all = { ...from, rows: resumed(first, rows) };
      const { apiId } = await withIds(into, { apiId: options.apiId }, command);
      const work = importKeys({ from: all, into, apiId, apiName, dryRun, onRow: write });
      const show = progressLines(host);
      let report: ImportReport | undefined;
      for await (const latest of work) {
        report = latest;
        if (!latest.isDone) show(() => progressOf(latest));
      }
      if (report === undefined) return;
      printLine(host, options, report, formatReport(report));
      if (report.skipped > 0) throw new Refused();
    });
  } finally {
    close();
    await rows.return?.();
  }
}

/** The files that an import reads, or writes keys to. Those of places that are no files do not exist. */
function filesOf(place: string, { map }: Options, { parsed }: StoreChoice): readonly string[] {
  const stored = parsed.kind === "sqlite" ? [parsed.path] : [];
  return [place, place.replace(/^sqlite:/i, ""), ...(map === undefined ? [] : [map]), ...stored];
}

/** A dry run creates no file: if there is none, an empty store in memory stands in for it. */
function chooseStore(options: Options, host: Host): StoreChoice {
  const choice = readStore(options, host, options.apiId === undefined ? "durable" : "existing");
  const { parsed } = choice;
  const isNew = parsed.kind === "sqlite" && !existsSync(parsed.path);
  return isNew && options.dryRun ? { ...choice, url: "memory:" } : choice;
}

/** All items of an iterator whose first result was already read. */
async function* resumed<Item>(
  first: IteratorResult<Item>,
  rest: AsyncIterator<Item>,
): AsyncGenerator<Item> {
  for (let next = first; !next.done; next = await rest.next()) yield next.value;
}

function progressOf({ rows, rowsPerSecond, skipped }: ImportReport): string {
  return `${rows} rows, ${Math.round(rowsPerSecond)} a second, ${skipped} skipped`;
}

function readMap(path: string): KeyMap {
  try {
    // Some editors put a byte order mark before it.
    return JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, "")) as KeyMap;
  } catch (error) {
    throw new UsageError(
      error instanceof SyntaxError ? "--map must name a JSON file" : "--map cannot be read",
    );
  }
}

/** Functions that write rows to a file and close it; without a path, they do nothing. */
async function reportWriter(
  path: string | undefined,
): Promise<[(row: RowReport) => void, () => void]> {
  if (path === undefined) return [() => undefined, () => undefined];
  assertNotStdout("--report", path);
  const file = await withFile("--report", path, () => openSync(path, "w"));
  return [(row) => writeFileSync(file, `${JSON.stringify(row)}\n`), () => closeSync(file)];
}
