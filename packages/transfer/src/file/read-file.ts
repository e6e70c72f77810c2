import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { LatchkeyError } from "@latchkey/core";
import type { Part } from "../passes/source.js";
import { Contents } from "./contents.js";
import { type Decryption, decrypted, isEncrypted } from "./encryption.js";
import { type Line, MAX_LINE, parseLine, unusable } from "./line.js";

const NEWLINE = 10;

/**
 * Reads a backup, part by part.
 *
 * @param onEnd - Called with the digest of a complete file, after its last part.
 * @throws LatchkeyError `PRECONDITION_FAILED` if the file is damaged, altered, cut off or encrypted for somebody else; this may
 * be known only at its end.
 */
export async function* readBackup(
  path: string,
  decryption: Decryption | undefined,
  onEnd?: (sha256: string) => void,
): AsyncGenerator<Part> {
  const contents = new Contents();
  for await (const line of linesIn(path, decryption, onEnd)) yield* contents.take(line);
}

async function* linesIn(
  path: string,
  decryption: Decryption | undefined,
  onEnd: ((sha256: string) => void) | undefined,
): AsyncGenerator<Line> {
  const digest = createHash("sha256");
  let workspaceId = "";
  let count = 0;
  let end: Extract<Line, { readonly type: "end" }> | null = null;
  for await (const bytes of rawLines(path, decryption)) {
    if (end !== null) throw unusable("something follows its end");
    const line = parseLine(bytes.toString(), count + 1, workspaceId);
    if ((count === 0) !== (line.type === "header")) throw unusable("its beginning is missing");
    if (line.type === "workspace") workspaceId = line.workspaceId;
    if (line.type === "end") {
      if (line.lines !== count || line.sha256 !== digest.digest("hex"))
        throw unusable("it was altered, or is damaged");
      end = line;
    } else {
      digest.update(bytes).update("\n");
      count += 1;
    }
    yield line;
  }
  if (end === null) throw unusable("its end is missing");
  onEnd?.(end.sha256);
}

/** The lines, each as soon as it is complete. A long line is not searched again with each piece of the file. */
async function* rawLines(path: string, decryption: Decryption | undefined): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let length = 0;
  let number = 1;
  const add = (piece: Buffer) => {
    length += piece.length;
    if (length > MAX_LINE) throw unusable(`line ${number} is longer than ${MAX_LINE} bytes`);
    if (piece.length > 0) pieces.push(piece);
  };
  try {
    for await (const chunk of (await unpacked(path, decryption)) as AsyncIterable<Buffer>) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, at));
        yield pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
        [pieces, length, number, from] = [[], 0, number + 1, at + 1];
      }
      add(chunk.subarray(from));
    }
  } catch (error) {
    if (error instanceof LatchkeyError) throw error;
    throw unusable("it is cut off, damaged, or not a latchkey backup", error);
  }
  if (length > 0) throw unusable("its last line is cut off");
}

async function unpacked(path: string, decryption: Decryption | undefined): Promise<Readable> {
  const file = await open(path, "r");
  try {
    const needsDecryption = await isEncrypted(file);
    // Somebody may have put their own file there. Only a holder of the passphrase can have written an encrypted one.
    if (!needsDecryption && decryption !== undefined)
      throw unusable("it is not encrypted, although a passphrase or an identity was given for it");
    const stream = file.createReadStream({ start: 0 });
    const bytes = needsDecryption ? await decrypted(stream, decryption) : stream;
    const gunzip = createGunzip();
    bytes.on("error", (error: Error) => gunzip.destroy(error));
    gunzip.on("close", () => bytes.destroy());
    return bytes.pipe(gunzip);
  } catch (error) {
    await file.close();
    throw error;
  }
}
