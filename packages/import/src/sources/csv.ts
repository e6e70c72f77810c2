import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parse } from "csv-parse";
import { MAX_ROW } from "../bounds.js";
import type { CheckedKeyMap } from "../key-map.js";
import { rowReader } from "../read-row.js";
import type { ImportRow } from "../row.js";
import { unreadableRow } from "./json-lines.js";

/** A record of a file, or why the file cannot be read any further. */
type CsvRecord =
  | { readonly number: number; readonly cells: readonly string[] }
  | { readonly number: number; readonly problem: string };

/** Maximum characters without a line break, quotes and delimiters included. */
const MAX_LINE = 2 * MAX_ROW;

/** The parser creates an error for each character beyond a bound, so it never gets much text at once. */
const PIECE = 8_192;

/**
 * Keys in a file of comma-separated values (RFC 4180), whose first row names the columns. Rows are numbered as in spreadsheets:
 * the first key is in row 2.
 *
 * A row that is too long, or has an unclosed quote, is the last one. Its end is unknown, and continuing at the next line break
 * would turn the text of a cell into rows, with any permissions.
 *
 * @throws TypeError for a file without a row of names, or with a repeated name.
 */
export async function* csvSource(
  pieces: AsyncIterable<string>,
  map: CheckedKeyMap,
  ignored: (column: string) => void,
  delimiter = ",",
): AsyncGenerator<ImportRow> {
  const toRow = rowReader(map, ignored);
  let names: readonly string[] | undefined;
  for await (const record of recordsOf(pieces, delimiter)) {
    const { number } = record;
    if (names === undefined) {
      if (!("cells" in record)) throw new TypeError(`the row of names ${record.problem}`);
      names = checkedNames(record.cells);
    } else if ("problem" in record)
      yield { ...unreadableRow(number, record.problem), endsSource: true };
    else if (record.cells.length !== names.length)
      yield unreadableRow(number, `has ${record.cells.length} columns instead of ${names.length}`);
    else
      yield toRow(
        number,
        Object.fromEntries(names.map((name, index) => [name, record.cells[index]])),
      );
  }
  if (names === undefined)
    throw new TypeError("the file is empty: its first row names the columns");
}

function checkedNames(cells: readonly string[]): readonly string[] {
  const names = cells.map((name) => name.trim());
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw new TypeError(`the column "${name.slice(0, 100)}" appears twice`);
    seen.add(name);
  }
  return names;
}

async function* recordsOf(
  pieces: AsyncIterable<string>,
  delimiter: string,
): AsyncGenerator<CsvRecord> {
  let problem: string | undefined;
  const feed = new Feed(pieces, () => problem !== undefined);
  const parser = parse({
    bom: true,
    delimiter,
    max_record_size: MAX_ROW,
    relax_column_count: true,
    // Otherwise the parser would lose all rows from a stray quote to the next quote.
    relax_quotes: true,
    skip_empty_lines: true,
    // Otherwise the records before a bad one would be lost with it if they are not read yet.
    skip_records_with_error: true,
    on_record: (cells) => (problem === undefined ? cells : undefined),
    on_skip: (error) => {
      problem ??= problemOf(error?.code);
      return undefined;
    },
  });
  const feeding = pipeline(Readable.from(feed.pieces(), { highWaterMark: 1 }), parser);
  // The loop below ends with the same error.
  feeding.catch(() => undefined);
  let number = 0;
  let last: readonly string[] | undefined;
  for await (const cells of parser as AsyncIterable<readonly string[]>) {
    if (last !== undefined) yield { number, cells: last };
    last = cells;
    number += 1;
  }
  await feeding;
  // The last record is complete, unless its end could not be read.
  const isCut = problem === undefined && feed.isCut;
  if (last !== undefined && !isCut) yield { number, cells: last };
  if (isCut) yield { number, problem: problemOf("CSV_MAX_RECORD_SIZE") };
  else if (problem !== undefined) yield { number: number + 1, problem };
}

/** Passes on the text of a file in small pieces, until the reader has enough or a line is too long. */
class Feed {
  /** Whether it ended at a line that is too long. The parser limits the text in cells, but not their number. */
  isCut = false;
  readonly #pieces: AsyncIterable<string>;
  readonly #isEnough: () => boolean;

  constructor(pieces: AsyncIterable<string>, isEnough: () => boolean) {
    this.#pieces = pieces;
    this.#isEnough = isEnough;
  }

  async *pieces(): AsyncGenerator<string> {
    let length = 0;
    for await (const text of this.#pieces)
      for (let [from, end] = [0, 0]; from < text.length; from = end) {
        end = from + PIECE;
        // Not between the two halves of a surrogate pair.
        if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end += 1;
        const piece = text.slice(from, end);
        const lastBreak = Math.max(piece.lastIndexOf("\n"), piece.lastIndexOf("\r"));
        length = lastBreak === -1 ? length + piece.length : piece.length - lastBreak;
        this.isCut = length > MAX_LINE;
        if (this.isCut || this.#isEnough()) return;
        yield piece;
      }
  }
}

/** The problem for an error code. The parser's own message is dropped, because it repeats the contents. */
function problemOf(code: string | undefined): string {
  const rest = "it and all rows after it were not read";
  if (code === "CSV_QUOTE_NOT_CLOSED") return `has a quote that is not closed: ${rest}`;
  if (code === "CSV_MAX_RECORD_SIZE") return `is longer than ${MAX_ROW} bytes: ${rest}`;
  return `is not CSV (${code ?? "unknown"}): ${rest}`;
}
