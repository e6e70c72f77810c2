/** A line of a text, or a part of a long one. */
export interface NumberedLine {
  readonly text: string;
  /** 1 is the first line. */
  readonly number: number;
}

/** Number of characters from which a line is passed on in parts: a dump may be one line that is longer than a string can be. */
const LONG_LINE = 262_144;

/** Each part begins with the end of the one before: a secret, of 512 characters at most, or twice as many in UTF-16, is whole in one. */
const OVERLAP = 2_048;

/**
 * The lines of a text, as they come.
 *
 * @param pieces - The text, cut anywhere.
 */
export async function* numberedLines(pieces: AsyncIterable<string>): AsyncGenerator<NumberedLine> {
  let number = 1;
  let rest = "";
  for await (const piece of pieces) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) {
      yield { text, number };
      number += 1;
    }
    if (rest.length < LONG_LINE) continue;
    yield { text: rest, number };
    rest = rest.slice(-OVERLAP);
  }
  yield { text: rest, number };
}
