import { isTooDeep, MAX_ROW, TOO_DEEP } from "../bounds.js";
import type { ImportRow } from "../row.js";
import { linesOf } from "./lines.js";

/** A line of JSON, or why it is invalid. */
export type JsonLine =
  | { readonly number: number; readonly value: unknown }
  | { readonly number: number; readonly problem: string };

/** The values of JSON lines that arrive in pieces. */
export async function* jsonLinesOf(pieces: AsyncIterable<string>): AsyncGenerator<JsonLine> {
  for await (const { number, text } of linesOf(pieces)) {
    const value = text === null ? undefined : parsed(text);
    if (text === null) yield { number, problem: `is longer than ${MAX_ROW} characters` };
    else if (value === undefined) yield { number, problem: "is not JSON" };
    else yield isTooDeep(value) ? { number, problem: TOO_DEEP } : { number, value };
  }
}

/** Undefined for invalid JSON. */
function parsed(text: string): unknown {
  try {
    // A byte order mark does not belong to the first line.
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
}

/** A row that cannot be read at all. */
export function unreadableRow(number: number, message: string): ImportRow {
  return { number, key: {}, issues: [{ field: "", message }], notes: [] };
}
