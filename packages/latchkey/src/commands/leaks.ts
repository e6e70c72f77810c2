import { open } from "node:fs/promises";
import { type Latchkey, LEAK_POLICIES, type LeakAction, type LeakPolicy } from "@latchkey/core";
import type { Command } from "commander";
import { Refused } from "../command-line/failures.js";
import { assertReadable } from "../command-line/files.js";
import { type AddCommand, groupCommand } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { type NumberedLine, numberedLines } from "../command-line/numbered-lines.js";
import { addCommonOptions, type CommonOptions } from "../command-line/operations.js";
import { type Column, printRows } from "../command-line/output.js";
import { withLatchkey } from "../command-line/store-options.js";
import { choiceOption, list } from "../command-line/values.js";
import { possibleSecrets } from "../secrets/possible-secrets.js";

interface Options extends CommonOptions {
  readonly policy: LeakPolicy;
  readonly prefixes?: readonly string[];
}

/** A key found in a text. */
interface Found {
  readonly keyId?: string;
  readonly rootKeyId?: string;
  readonly action: LeakAction;
  /** Whether an earlier run with the same policy found and handled it there. */
  readonly isRepeat: boolean;
  /** The first line that contains it; 1 is the first line of the text. */
  readonly line: number;
}

const COLUMNS: readonly Column<Found>[] = [
  { title: "ID", of: ({ keyId, rootKeyId }) => keyId ?? rootKeyId },
  { title: "LINE", of: ({ line }) => line },
  { title: "STATE", of: ({ action, isRepeat }) => (isRepeat ? `${action} before` : action) },
];

const CHECK = `find keys in a text, and disable them

Finds every key in latchkey's own format, whatever surrounds it, and keys in another format by --prefixes. The audit log shows what was done to a key and where it was found. Exits with 1 if a key is found.`;

/** Possible secrets per call of core. */
const AT_ONCE = 100;

/** Maximum possible secrets to remember, so that each is looked up only once. */
const MAX_SEEN = 100_000;

/** Adds `latchkey leaks`: finds leaked keys, and disables them. */
export const addLeaks: AddCommand = groupCommand(
  "leaks",
  "find keys that leaked, and disable them",
  ["latchkey leaks check ./server.log --policy report", "git log -p | latchkey leaks check -"],
  [addCheck],
);

function addCheck(leaks: Command, host: Host): void {
  const check = leaks
    .command("check")
    .summary("find keys in a text, and disable them")
    .description(CHECK)
    .argument("<file>", "- reads stdin")
    .addOption(
      choiceOption(
        "--policy <policy>",
        "what happens to a key that is found",
        LEAK_POLICIES,
      ).default("disable"),
    )
    .option(
      "--prefixes <list>",
      "prefixes of keys that another system issued: sk_live,sk_test",
      list,
    );
  addCommonOptions(check).action((file: string, options: Options) => run(file, options, host));
}

async function run(file: string, options: Options, host: Host): Promise<void> {
  const url = file === "-" ? "stdin" : file;
  if (file !== "-") await assertReadable("<file>", file);
  // A reader that stops early, such as head, must not prevent later keys from being disabled.
  host.keepGoing();
  await withLatchkey(options, host, async (latchkey) => {
    let isFound = false;
    for await (const found of check(latchkey, numberedLines(piecesOf(file, host)), url, options)) {
      isFound = true;
      printRows(host, options, [found], COLUMNS);
    }
    if (isFound) throw new Refused();
  });
}

async function* piecesOf(file: string, { readPieces }: Host): AsyncGenerator<string> {
  if (file === "-") {
    yield* readPieces("Paste a text and press Enter (it is not shown): ");
    return;
  }
  const handle = await open(file);
  try {
    yield* handle.createReadStream({ encoding: "utf8" });
  } finally {
    await handle.close();
  }
}

async function* check(
  latchkey: Latchkey,
  lines: AsyncIterable<NumberedLine>,
  url: string,
  { policy, prefixes = [] }: Options,
): AsyncGenerator<Found> {
  // Part of the place: after a look with --policy report, the same text with another policy is not a repeat.
  const source = policy === "disable" ? "leaks check" : `leaks check --policy ${policy}`;
  const seen = new Set<string>();
  let batch: { readonly key: string; readonly line: number }[] = [];
  async function* report(): AsyncGenerator<Found> {
    for (let at = 0; at < batch.length; at += AT_ONCE) {
      const part = batch.slice(at, at + AT_ONCE);
      const leaks = part.map(({ key }) => ({ key, url: url.slice(-2_048), source }));
      const answer = await latchkey.reportLeaks({ leaks, policy });
      for (const [index, leaked] of answer.leaks.entries())
        if (leaked !== null) yield { ...leaked, line: part[index]?.line ?? 0 };
    }
    batch = [];
  }
  for await (const { text, number } of lines) {
    for (const key of formsOf(text).flatMap((form) => possibleSecrets(form, prefixes))) {
      if (seen.has(key)) continue;
      if (seen.size >= MAX_SEEN) seen.clear();
      seen.add(key);
      batch.push({ key, line: number });
    }
    if (batch.length >= AT_ONCE) yield* report();
  }
  yield* report();
}

/** A line as it is; without NUL as well, which is every other byte of ASCII in UTF-16: some shells write their logs in that. */
function formsOf(text: string): readonly string[] {
  return text.includes("\0") ? [text, text.replaceAll("\0", "")] : [text];
}
