import { MAX_ROW } from "../bounds.js";

/** A line of a text; null if it is longer than a row may be. */
export interface Line {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string | null;
}

/** The non-empty lines of a text that arrives in pieces. */
export async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<Line> {
  let number = 1;
  let line = "";
  let isTooLong = false;
  const take = (text: string) => {
    isTooLong ||= line.length + text.length > MAX_ROW;
    // A line is joined and searched once it is complete: searching for its end after each piece takes quadratic time.
    line = isTooLong ? "" : line + text;
  };
  const isThere = () => isTooLong || line.trim() !== "";
  for await (const piece of pieces) {
    let from = 0;
    for (let end = piece.indexOf("\n"); end !== -1; end = piece.indexOf("\n", from)) {
      take(piece.slice(from, end));
      if (isThere()) yield { number, text: isTooLong ? null : line };
      [line, isTooLong, number, from] = ["", false, number + 1, end + 1];
    }
    take(piece.slice(from));
  }
  if (isThere()) yield { number, text: isTooLong ? null : line };
}
