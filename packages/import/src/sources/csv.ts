import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parse } from "csv-parse";
import type { CheckedKeyMap } from "../key-map.js";
import { rowReader } from "../read-row.js";
import type { ImportRow } from "../row.js";
import { unreadableRow } from "./json-lines.js";

/** A record of a file, or why there is none. */
type CsvRecord =
  | { readonly number: number; readonly cells: readonly string[] }
  | { readonly number: number; readonly problem: string };

/** A record longer than this is none. */
const MAX_RECORD = 1_000_000;

/**
 * Keys of a file of comma-separated values (RFC 4180), whose first row names the columns. Rows are counted as spreadsheets do: the
 * first key stands in row 2.
 *
 * @throws TypeError for a file without a row of names, or with one name twice.
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
    } else if ("problem" in record) yield unreadableRow(number, record.problem);
    else if (record.cells.length !== names.length)
      yield unreadableRow(number, `has ${record.cells.length} columns in place of ${names.length}`);
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
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new TypeError(`the column "${twice}" is there twice`);
  return names;
}

async function* recordsOf(
  pieces: AsyncIterable<string>,
  delimiter: string,
): AsyncGenerator<CsvRecord> {
  let parsed = 0;
  const bad: (CsvRecord & { readonly problem: string })[] = [];
  const parser = parse({
    bom: true,
    delimiter,
    max_record_size: MAX_RECORD,
    relax_column_count: true,
    // Else a stray quote would make it lose all rows up to the next one.
    relax_quotes: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_record: (cells) => {
      parsed += 1;
      return cells;
    },
    on_skip: (error) => {
      parsed += 1;
      bad.push({ number: parsed, problem: problemOf(error?.code) });
      return undefined;
    },
  });
  const feeding = pipeline(Readable.from(pieces), parser);
  // What goes wrong there ends the loop as well.
  feeding.catch(() => undefined);
  let number = 0;
  for await (const cells of parser as AsyncIterable<readonly string[]>) {
    number += 1;
    for (; bad[0]?.number === number; number += 1) yield bad.shift() as CsvRecord;
    yield { number, cells };
  }
  yield* bad;
  await feeding;
}

/** Not its message, which repeats what stands there. */
function problemOf(code: string | undefined): string {
  if (code === "CSV_QUOTE_NOT_CLOSED")
    return "has a quote that is not closed: the rest was not read";
  if (code === "CSV_MAX_RECORD_SIZE") return `is longer than ${MAX_RECORD} characters`;
  return `is not CSV (${code ?? "unknown"})`;
}
