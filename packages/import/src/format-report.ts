import type { ImportReport, Reason } from "./report.js";

/** Maximum number of reasons to print; the others are counted. */
const MAX_REASONS = 20;

/** The report as text: what was written, what was skipped, and why. */
export function formatReport(report: ImportReport): string {
  const { isDryRun, rows, written, alreadyThere, skipped, created, ignoredColumns } = report;
  const kinds = [
    ["APIs", created.apis],
    ["permissions", created.permissions],
    ["roles", created.roles],
  ] as const;
  const lines = [
    `${count(rows)} rows in ${(report.elapsedMs / 1_000).toFixed(1)} s (${count(Math.round(report.rowsPerSecond))} a second)`,
    line(isDryRun ? "to write" : "written", written),
    line("already there", alreadyThere),
    line("skipped", skipped),
    ...reasons("Skipped", report.issues),
    ...reasons("Imported with a change", report.notes),
    ...kinds.flatMap(([kind, names]) =>
      names.length === 0
        ? []
        : [`${isDryRun ? "To be created" : "Created"} ${kind}: ${listed(names)}`],
    ),
    ...(report.unreadFrom === null
      ? []
      : [
          `The source could not be read from row ${count(report.unreadFrom)} on: fix it, and import it again.`,
        ]),
    ...(ignoredColumns.length === 0
      ? []
      : [
          `Columns not read, because no map says to which field they go: ${listed(ignoredColumns)}`,
        ]),
    ...(isDryRun ? ["Dry run: nothing was written."] : []),
    ...(!isDryRun && rows > 0 && written === 0 ? ["No key was written."] : []),
  ];
  return lines.map(printable).join("\n");
}

function line(outcome: string, rows: number): string {
  return `  ${outcome.padEnd(13)}  ${count(rows)}`;
}

function reasons(title: string, found: readonly Reason[]): readonly string[] {
  if (found.length === 0) return [];
  const shown = found.slice(0, MAX_REASONS).map(({ field, message, rows, firstRow, firstId }) => {
    const first = firstId === undefined ? `${firstRow}` : `${firstRow}, id ${firstId}`;
    const where = rows === 1 ? `row ${first}` : `${count(rows)} rows, the first is ${first}`;
    return `  ${field === "" ? "the row" : field} ${message} (${where})`;
  });
  const left = found.length - shown.length;
  return [`${title}:`, ...shown, ...(left > 0 ? [`  and ${left} more reasons`] : [])];
}

function listed(names: readonly string[]): string {
  const left = names.length - MAX_REASONS;
  return `${names.slice(0, MAX_REASONS).join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}

/** The names of a source can contain anything: what would break the line or move the cursor is escaped as in JSON. */
function printable(line: string): string {
  return line.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

/** With commas between thousands, in any locale. */
function count(value: number): string {
  return value.toLocaleString("en-US");
}
