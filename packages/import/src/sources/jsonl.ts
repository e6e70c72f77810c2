import { isObject } from "../columns.js";
import type { CheckedKeyMap } from "../key-map.js";
import { rowReader } from "../read-row.js";
import type { ImportRow } from "../row.js";
import { jsonLinesOf, unreadableRow } from "./json-lines.js";

/** Keys in a file of JSON lines, one object each: as `latchkey export` writes them, or with other columns and a map. */
export async function* jsonLinesSource(
  pieces: AsyncIterable<string>,
  map: CheckedKeyMap,
  ignored: (column: string) => void,
): AsyncGenerator<ImportRow> {
  const toRow = rowReader(map, ignored);
  for await (const line of jsonLinesOf(pieces)) {
    if ("problem" in line) yield unreadableRow(line.number, line.problem);
    else if (isObject(line.value)) yield toRow(line.number, line.value);
    else yield unreadableRow(line.number, "is not an object");
  }
}
