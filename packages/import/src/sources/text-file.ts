import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { MAX_ROW } from "../bounds.js";
import type { ImportRow } from "../row.js";
import { unreadableRow } from "./json-lines.js";

/** Maximum bytes that are kept for the end of their line: no row is that long, so its reader refuses it. */
const LONGEST = 2 * MAX_ROW;

const [LINE_FEED, CARRIAGE_RETURN] = [10, 13];

/**
 * The rows of a file, up to the first one that is not UTF-8. With other bytes replaced, different texts could become the same, such as the
 * ids of two owners.
 *
 * @param read - Reads rows from the text of the file.
 * @throws TypeError if not even its first line is UTF-8.
 */
export async function* rowsOfFile(
  path: string,
  read: (pieces: AsyncIterable<string>) => AsyncIterable<ImportRow>,
): AsyncGenerator<ImportRow> {
  const file = new TextFile(path);
  // Before the first row of CSV is that of the names.
  let latest = 1;
  let isOver = false;
  for await (const row of read(file.pieces())) {
    yield row;
    latest = row.number;
    isOver = row.endsSource === true;
  }
  if (!file.isCut || isOver) return;
  const message = "is not UTF-8: it and all rows after it were not read";
  yield { ...unreadableRow(latest + 1, message), endsSource: true };
}

/** The text of a file, in pieces that end with a line. */
class TextFile {
  /** Whether the text ended before a line that is not UTF-8. */
  isCut = false;
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Opens the file when it is first read: before that, nobody would catch the error of a missing file. */
  async *pieces(): AsyncGenerator<string> {
    let isBegun = false;
    for await (const lines of linesOfFile(this.#path)) {
      const good = isUtf8(lines) ? lines : goodLines(lines);
      this.isCut = good.length < lines.length;
      if (this.isCut && good.length === 0 && !isBegun)
        throw new TypeError("the file is not text in UTF-8");
      yield good.toString("utf8");
      if (this.isCut) return;
      isBegun = true;
    }
  }
}

/** The bytes of a file, in pieces that end with a line, unless that is too long. */
async function* linesOfFile(path: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path)) {
    const bytes = Buffer.concat([rest, chunk as Buffer]);
    const end = endOfLines(bytes) || (bytes.length > LONGEST ? endOfCharacters(bytes) : 0);
    if (end > 0) yield bytes.subarray(0, end);
    rest = bytes.subarray(end);
  }
  if (rest.length > 0) yield rest;
}

/** The lines before the first one that is not UTF-8. */
function goodLines(lines: Buffer): Buffer {
  let end = 0;
  for (let next = 0; next < lines.length; ) {
    const lineEnd = lines.indexOf(LINE_FEED, next);
    next = lineEnd === -1 ? lines.length : lineEnd + 1;
    if (!isUtf8(lines.subarray(end, next))) break;
    end = next;
  }
  return lines.subarray(0, end);
}

/** Where the last line that is complete ends; 0: there is none. */
function endOfLines(bytes: Buffer): number {
  return Math.max(bytes.lastIndexOf(LINE_FEED), bytes.lastIndexOf(CARRIAGE_RETURN)) + 1;
}

/** Where the last character begins, which may be incomplete. */
function endOfCharacters(bytes: Buffer): number {
  let end = bytes.length - 1;
  while (end > 0 && isContinuation(bytes[end])) end -= 1;
  return end;
}

function isContinuation(byte = 0): boolean {
  return byte >= 0x80 && byte < 0xc0;
}
