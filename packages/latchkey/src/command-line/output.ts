import type { Command } from "commander";
import type { Host } from "./host.js";
import { DEFAULT_COLUMNS, fittingWidths, wrapped } from "./table.js";

/** The value of {@link addJsonOption}. */
export interface JsonOption {
  readonly json?: true;
}

/** A value in a table; undefined if there is none. */
export type Cell = string | number | boolean | undefined;

/** One column of a table: its title, and its value in a row. */
export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => Cell;
  /** The value in a table, which has less room than a line with tabs; null to leave the column out. */
  readonly inTable?: ((row: Row) => Cell) | null;
  /** Whether it is never broken over two lines, like ids. */
  readonly isWhole?: true;
}

/** Adds the option that makes a command print JSON. */
export function addJsonOption(command: Command): Command {
  return command.option("--json", "print JSON, one object per line, instead of text");
}

/**
 * Prints rows: with `--json` one JSON object a line; on a terminal a table with titles; otherwise values separated by tabs,
 * without titles, for other programs.
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

/** Prints one result: as JSON with `--json`, otherwise a line for each of its fields. */
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

/** Prints one result: as JSON with `--json`, otherwise as a line of text. */
export function printLine(host: Host, { json }: JsonOption, record: object, text: string): void {
  host.print(json ? JSON.stringify(record) : text);
}

/** The last instant that is a date. A store may have a later one, from before such were refused. */
const LAST_DATE_MS = 8.64e15;

/** An instant for people and programs: an ISO date, or the number of ms if it is too late for one. */
export function instant(at: number): string;
export function instant(at: number | undefined): string | undefined;
export function instant(at: number | undefined): string | undefined {
  if (at === undefined) return undefined;
  return Math.abs(at) <= LAST_DATE_MS ? new Date(at).toISOString() : `${at} ms`;
}

/** The day of an instant, for tables. */
export function day(at: number): string;
export function day(at: number | undefined): string | undefined;
export function day(at: number | undefined): string | undefined {
  return instant(at)?.split("T")[0];
}

/** An instant to the minute, or to the second if it has one, for tables. */
export function minute(at: number): string;
export function minute(at: number | undefined): string | undefined;
export function minute(at: number | undefined): string | undefined {
  return instant(at)?.replace(/(?::00)?\.\d{3}Z$/, "Z");
}

/** Text in the colour of titles, if the terminal has colours. */
function dimmed(text: string, { terminal }: Host): string {
  return terminal?.hasColors ? `\u001b[2m${text}\u001b[22m` : text;
}

function printTable<Row>(host: Host, rows: readonly Row[], columns: readonly Column<Row>[]): void {
  if (rows.length === 0) return;
  const shownColumns = columns.filter(({ inTable }) => inTable !== null);
  const titles = shownColumns.map(({ title }) => title);
  const cells = rows.map((row) =>
    shownColumns.map(({ of, inTable }) => shown((inTable ?? of)(row), "-")),
  );
  const isWhole = shownColumns.map((column) => column.isWhole ?? false);
  const room = host.terminal?.columns ?? DEFAULT_COLUMNS;
  const widths = fittingWidths([titles, ...cells], isWhole, room);
  for (const line of wrapped(titles, widths)) host.print(dimmed(line, host));
  for (const row of cells) for (const line of wrapped(row, widths)) host.print(line);
}

function shown(cell: Cell, none: string): string {
  return cell === undefined ? none : printable(String(cell));
}

/** Names can contain anything: what would break the line or move the cursor is escaped as in JSON. */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
