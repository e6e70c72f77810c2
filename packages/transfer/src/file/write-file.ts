import { createHash } from "node:crypto";
import { createWriteStream, existsSync } from "node:fs";
import { link, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { LatchkeyError } from "@latchkey/core";
import type { Part } from "../passes/source.js";
import { type Encryption, encrypted } from "./encryption.js";
import { FORMAT, linesOf, VERSION } from "./line.js";

/** How much text is handed on at once. */
const CHUNK_LENGTH = 65_536;

/**
 * Writes parts to a file that only its owner may read. It has its name once all of it is on disk: until then it is called
 * `<path>.partial`.
 *
 * @throws LatchkeyError `PRECONDITION_FAILED` where there is a file of that name.
 */
export async function writeBackup(
  path: string,
  parts: AsyncIterable<Part>,
  createdAt: number,
  encryption: Encryption | undefined,
): Promise<void> {
  if (existsSync(path)) throw fileExists();
  const partial = `${path}.partial`;
  const text = Readable.from(chunksOf(parts, createdAt), { objectMode: false });
  const gzip = createGzip();
  const packed = pipeline(text, gzip);
  packed.catch(() => undefined);
  const bytes = encryption === undefined ? gzip : await encrypted(gzip, encryption);
  await pipeline(bytes, createWriteStream(partial, { mode: 0o600, flush: true }));
  await packed;
  // Not renamed: that would replace a file which has come meanwhile.
  await link(partial, path).catch((error) => {
    throw error.code === "EEXIST" ? fileExists() : error;
  });
  await unlink(partial);
  const folder = await open(dirname(path), "r");
  await folder.sync();
  await folder.close();
}

function fileExists(): LatchkeyError {
  return new LatchkeyError("PRECONDITION_FAILED", "there is a file of that name already");
}

async function* chunksOf(parts: AsyncIterable<Part>, createdAt: number): AsyncGenerator<Buffer> {
  const digest = createHash("sha256");
  let text = `${JSON.stringify({ format: FORMAT, version: VERSION, createdAt })}\n`;
  let lines = 1;
  let list: string | null = null;
  const flush = () => {
    const chunk = Buffer.from(text);
    digest.update(chunk);
    text = "";
    return chunk;
  };
  for await (const part of parts) {
    for (const line of linesOf(part, list)) {
      text += `${line}\n`;
      lines += 1;
      if (text.length >= CHUNK_LENGTH) yield flush();
    }
    list = part.kind === "records" && !part.isLast ? part.of.list : null;
  }
  yield flush();
  yield Buffer.from(`${JSON.stringify({ lines, sha256: digest.digest("hex") })}\n`);
}
