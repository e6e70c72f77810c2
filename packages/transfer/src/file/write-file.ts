import { createHash } from "node:crypto";
import { createWriteStream, existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { LatchkeyError } from "@latchkey/core";
import { giveName, partialPathOf } from "../new-file.js";
import type { Part } from "../passes/source.js";
import { assertOpenable, type Encryption, encrypted } from "./encryption.js";
import { FORMAT, linesOf, VERSION } from "./line.js";

/** How much text is passed on at a time. */
const CHUNK_LENGTH = 65_536;

/**
 * Writes parts to a file that only its owner may read. The file gets its name when all of it is on disk. Until then it is called
 * `<path>.<random>.partial`, and if writing fails, it is deleted.
 *
 * @throws LatchkeyError `PRECONDITION_FAILED` if a file of that name exists. TypeError for an encryption that no restore could
 * open.
 */
export async function writeBackup(
  path: string,
  parts: AsyncIterable<Part>,
  createdAt: number,
  encryption: Encryption | undefined,
): Promise<void> {
  if (encryption !== undefined) assertOpenable(encryption);
  if (existsSync(path)) throw fileExists();
  const partial = partialPathOf(path);
  try {
    await writeAll(partial, parts, createdAt, encryption);
    await giveName(partial, path).catch((error) => {
      throw error.code === "EEXIST" ? fileExists() : error;
    });
  } finally {
    await rm(partial, { force: true });
  }
}

async function writeAll(
  path: string,
  parts: AsyncIterable<Part>,
  createdAt: number,
  encryption: Encryption | undefined,
): Promise<void> {
  const text = Readable.from(chunksOf(parts, createdAt), { objectMode: false });
  const gzip = createGzip();
  const packed = pipeline(text, gzip);
  packed.catch(() => undefined);
  try {
    const bytes = encryption === undefined ? gzip : await encrypted(gzip, encryption);
    const file = createWriteStream(path, { flags: "wx", mode: 0o600, flush: true });
    await pipeline(bytes, file);
    await packed;
  } finally {
    // If the consumer stops reading, the store is not read any further either.
    gzip.destroy();
  }
}

function fileExists(): LatchkeyError {
  return new LatchkeyError("PRECONDITION_FAILED", "a file with that name already exists");
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
