import type { ImportRow } from "../row.js";
import { linesOf } from "./lines.js";

/** A line of JSON, or why it is none. */
export type JsonLine =
  | { readonly number: number; readonly value: unknown }
  | { readonly number: number; readonly problem: string };

/** The values of a text of JSON lines that arrives in pieces. */
export async function* jsonLinesOf(pieces: AsyncIterable<string>): AsyncGenerator<JsonLine> {
  for await (const { number, text } of linesOf(pieces)) {
    if (text === null) yield { number, problem: "is longer than a million characters" };
    else
      try {
        // A byte order mark is no part of the first line.
        yield { number, value: JSON.parse(text.replace(/^\uFEFF/, "")) };
      } catch {
        yield { number, problem: "is not JSON" };
      }
  }
}

/** A row that cannot be read at all. */
export function unreadableRow(number: number, message: string): ImportRow {
  return { number, key: {}, issues: [{ field: "", message }], notes: [] };
}
