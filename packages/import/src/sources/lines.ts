/** A line longer than this is no row, and is not kept in memory. */
const MAX_LINE = 1_000_000;

/** A line of a text; null where it is too long. */
export interface Line {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string | null;
}

/** The lines of a text that arrives in pieces, without those that are empty. */
export async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<Line> {
  let number = 1;
  let rest = "";
  let isTooLong = false;
  for await (const piece of pieces) {
    const parts = (rest + piece).split("\n");
    rest = parts.pop() ?? "";
    for (const text of parts) {
      if (isTooLong || text.trim() !== "") yield { number, text: isTooLong ? null : text };
      isTooLong = false;
      number += 1;
    }
    if (rest.length > MAX_LINE) {
      isTooLong = true;
      rest = "";
    }
  }
  if (isTooLong || rest.trim() !== "") yield { number, text: isTooLong ? null : rest };
}
