import type { Goal } from "./goals.js";

/** What one goal came to: medians for one call, in nanoseconds, and their ratio. */
export interface Line extends Goal {
  readonly limitNs: number;
  readonly latchkeyNs: number;
  readonly ratio: number;
}

/** The lines as a table for people. */
export function asTable(lines: readonly Line[]): string {
  const rows = lines.map(({ id, work, limitNs, latchkeyNs, ratio, maxRatio }) => [
    id,
    work,
    microseconds(limitNs),
    microseconds(latchkeyNs),
    ratio.toFixed(2),
    maxRatio.toFixed(2),
    ratio <= maxRatio ? "met" : "not met",
  ]);
  const table = [["", "work", "limit µs", "latchkey µs", "ratio", "goal", ""], ...rows];
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  const align = (row: readonly string[]) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return table.map((row) => `${align(row).trimEnd()}\n`).join("");
}

function microseconds(nanoseconds: number): string {
  return (nanoseconds / 1_000).toFixed(2);
}
