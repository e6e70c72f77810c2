import type { Command } from "commander";
import type { Host } from "./host.js";

/** The value of {@link addJsonOption}. */
export interface JsonOption {
  readonly json?: true;
}

/** A value in a table; undefined: there is none. */
export type Cell = string | number | boolean | undefined;

/** One column of a table: its title, and its value in a row. */
export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => Cell;
}

/** Adds the option that makes a command print JSON. */
export function addJsonOption(command: Command): Command {
  return command.option("--json", "print JSON, one object a line, instead of text");
}

/**
 * Prints rows: as JSON, one object a line, with `--json`; on a terminal as a table with titles; elsewhere with tabs between the
 * values and without titles, for other programs to read.
 */
export function printRows<Row>(
  host: Host,
  { json }: JsonOption,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): void {
  if (json) for (const row of rows) host.print(JSON.stringify(row));
  else if (host.terminal === null)
    for (const row of rows) host.print(columns.map(({ of }) => shown(of(row), "")).join("\t"));
  else printTable(host, rows, columns);
}

/** Prints one answer: as JSON with `--json`, else a line for each of its fields. */
export function printRecord(
  host: Host,
  { json }: JsonOption,
  record: object,
  fields: readonly (readonly [title: string, value: Cell])[],
): void {
  if (json) {
    host.print(JSON.stringify(record));
    return;
  }
  const given = fields.filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...given.map(([title]) => title.length));
  for (const [title, value] of given)
    host.print(
      host.terminal === null
        ? `${title}\t${shown(value, "")}`
        : `${dimmed(title.padEnd(width), host)}  ${shown(value, "")}`,
    );
}

/** An instant, as people and programs read it. */
export function instant(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}

/** Text in the colour of titles, where there are colours. */
function dimmed(text: string, { terminal }: Host): string {
  return terminal?.hasColors ? `\u001b[2m${text}\u001b[22m` : text;
}

function printTable<Row>(host: Host, rows: readonly Row[], columns: readonly Column<Row>[]): void {
  if (rows.length === 0) return;
  const cells = rows.map((row) => columns.map(({ of }) => shown(of(row), "-")));
  const widths = columns.map(({ title }, at) =>
    Math.max(title.length, ...cells.map((row) => row[at]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  host.print(dimmed(line(columns.map(({ title }) => title)), host));
  for (const row of cells) host.print(line(row));
}

/** Names are anyone's text: what would break the line or move the cursor is written as in JSON. */
function shown(cell: Cell, none: string): string {
  if (cell === undefined) return none;
  return String(cell).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
