import { USAGE_SUBJECTS, type VerificationBucket } from "@latchkey/core";
import type { Command } from "commander";
import { FIELDS, type Field } from "../command-line/fields.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { withIds } from "../command-line/named-ids.js";
import {
  addCommonOptions,
  addInput,
  type CommonOptions,
  inputOf,
} from "../command-line/operations.js";
import { type Column, instant, printRows } from "../command-line/output.js";
import {
  addStoreOptions,
  addWorkspaceOption,
  type StoreOptions,
  type WorkspaceOption,
  withLatchkey,
} from "../command-line/store-options.js";
import { isoDate } from "../command-line/values.js";

const GRANULARITIES = ["hour", "day", "month"] as const;

const SUBJECT: readonly Field[] = [
  FIELDS.apiId,
  { flags: "--identity-id <id>", text: "of the keys of an identity" },
  { ...FIELDS.externalId, text: "of the keys of an identity, by your own id" },
  {
    flags: "--start <date>",
    text: "start of the period (default: 30 days before its end)",
    read: isoDate("--start"),
  },
  {
    flags: "--end <date>",
    text: "end of the period, not included (default: now)",
    read: isoDate("--end"),
  },
  {
    flags: "--granularity <span>",
    text: "the period of one line (default: day)",
    words: GRANULARITIES,
  },
];

/** Default range: 30 days. */
const USUAL_RANGE_MS = 30 * 86_400_000;

/** Columns of the terminal beside the chart. */
const BESIDE_CHART = 40;

/** Adds `latchkey usage`: how often a key, or the keys of an identity or an API, were verified. */
export function addUsage(program: Command, host: Host): void {
  const usage = program
    .command("usage")
    .description("show how often a key, or the keys of an identity or an API, were verified")
    .addHelpText(
      "after",
      example("latchkey usage <keyId>", "latchkey usage --api-id <apiId> --granularity month"),
    );
  // See `createProgram`: options after "export" belong to it.
  addUsageExport(usage.enablePositionalOptions(), host);
  addCommonOptions(addInput(usage, ["[keyId]"], SUBJECT)).action(async () => {
    const options = usage.opts<CommonOptions>();
    const typed = inputOf(usage, SUBJECT, host);
    await withLatchkey(options, host, async (latchkey) => {
      const input = await withIds(latchkey, typed, usage);
      const { verifications } = await latchkey.getVerifications(input);
      printRows(host, options, verifications, columnsFor(verifications, host));
    });
  });
}

const EXPORTED: readonly Field[] = [
  { flags: "--by <what>", text: "what a row counts (default: key)", words: USAGE_SUBJECTS },
  ...SUBJECT.slice(-3),
];

/** Maximum rows per call. */
const ROWS_AT_ONCE = 1_000;

function addUsageExport(usage: Command, host: Host): void {
  const command = usage
    .command("export")
    .description(
      "write rows for billing as JSON, one per line; the last line, on stderr, says where the next export starts",
    )
    .addHelpText("after", example("latchkey usage export --by key --start 2026-11-01"));
  const options = addWorkspaceOption(addStoreOptions(addInput(command, [], EXPORTED)));
  options.action(async () => {
    const typed = inputOf(command, EXPORTED, host);
    await withLatchkey(command.opts<StoreOptions & WorkspaceOption>(), host, async (latchkey) => {
      const end = (typed.end as number | undefined) ?? latchkey.now();
      const start = (typed.start as number | undefined) ?? Math.max(0, end - USUAL_RANGE_MS);
      const question = {
        by: "key",
        granularity: "day",
        limit: ROWS_AT_ONCE,
        ...typed,
        start,
        end,
      } as const;
      for (let cursor: string | undefined; ; ) {
        const page = await latchkey.exportUsage({ ...question, cursor });
        for (const row of page.rows) host.print(JSON.stringify(row));
        cursor = page.cursor;
        if (cursor !== undefined) continue;
        await host.printed();
        host.warn(`until ${instant(page.until)}`);
        break;
      }
    });
  });
}

function columnsFor(
  buckets: readonly VerificationBucket[],
  host: Host,
): readonly Column<VerificationBucket>[] {
  const most = Math.max(1, ...buckets.map(totalOf));
  const width = Math.max(10, (host.terminal?.columns ?? 0) - BESIDE_CHART);
  const chart: Column<VerificationBucket> = {
    title: "",
    of: (bucket) => bar(bucket, width / most),
  };
  return [
    { title: "TIME", of: ({ time }) => instant(time)?.replace(/:00\.000Z$/, "Z") },
    { title: "VALID", of: ({ success }) => success },
    { title: "REFUSED", of: (bucket) => totalOf(bucket) - bucket.success },
    ...(buckets.some(shadowed) ? [{ title: "SHADOW", of: shadowed }] : []),
    ...(host.terminal === null ? [] : [chart]),
  ];
}

/** A bar of the valid verifications, followed by the refused ones. */
function bar(bucket: VerificationBucket, scale: number): string {
  const valid = Math.round(bucket.success * scale);
  return "█".repeat(valid) + "░".repeat(Math.round(totalOf(bucket) * scale) - valid);
}

/** Verifications that a shadow limit would have refused. They are also counted under their actual verdicts. */
function shadowed({ outcomes }: VerificationBucket): number {
  return outcomes.SHADOW_LIMITED ?? 0;
}

function totalOf(bucket: VerificationBucket): number {
  const counts = Object.values(bucket.outcomes);
  return counts.reduce((sum, count) => sum + count, 0) - shadowed(bucket);
}
