import type { BackupReport, TransferReport } from "@latchkey/transfer";
import { UsageError } from "./failures.js";
import type { Host } from "./host.js";
import { type JsonOption, printRecord } from "./output.js";

/** What a transfer calls an argument, and the option that it came from. */
const OPTIONS = [
  [/^"recipients\.(\d+)"/, (at: string) => `--recipients (item ${Number(at) + 1})`],
  [/^"identity"/, () => "--identity: the key in the file"],
] as const;

/** @throws UsageError instead of a TypeError about an argument that came from an option; otherwise the error itself. */
export function namingOptions(error: unknown): never {
  if (!(error instanceof TypeError)) throw error;
  for (const [theirs, ours] of OPTIONS)
    if (theirs.test(error.message))
      throw new UsageError(error.message.replace(theirs, (_, at: string) => ours(at)));
  throw error;
}

/** Prints the result of a copy, a backup or a restore. */
export function printTransfer(
  host: Host,
  options: JsonOption,
  report: BackupReport | TransferReport,
): void {
  const { workspaces, counts } = report;
  if ("wasComplete" in report)
    host.warn("the move is complete already, and the target serves: nothing was copied");
  const { digest = null, fence } = "digest" in report ? report : {};
  printRecord(host, options, report, [
    ["workspaces", workspaces.length],
    ...Object.entries(counts),
    ["digest", digest ?? undefined],
    ["fence (ms)", fence?.ms],
  ]);
}
