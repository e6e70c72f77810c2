import type { BackupReport, TransferReport } from "@latchkey/transfer";
import type { Host } from "./host.js";
import { type JsonOption, printRecord } from "./output.js";

/** Prints what a copy, a backup or a restore came to. */
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
