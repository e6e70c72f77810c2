import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { LatchkeyError } from "@latchkey/core";
import { PART_SIZE, type Part, type RecordList } from "../passes/source.js";
import type { CopiedRecord } from "../records/copied-record.js";
import type { FoundWindow } from "../records/windows.js";
import { AGE_MAGIC, type Decryption, decrypted } from "./encryption.js";
import { type Line, parseLine, unusable } from "./line.js";

const NEWLINE = 10;

/**
 * Reads a backup, part by part.
 *
 * @param onEnd - Is told the digest of a file that was found to be whole, after its last part.
 * @throws LatchkeyError `PRECONDITION_FAILED` where it is damaged, altered, cut off or encrypted for somebody else: in the end at the
 * latest.
 */
export async function* readBackup(
  path: string,
  decryption: Decryption | undefined,
  onEnd?: (sha256: string) => void,
): AsyncGenerator<Part> {
  let of: RecordList | null = null;
  let records: CopiedRecord[] = [];
  let windows: Map<string, FoundWindow> | null = null;
  let begun: string | null = null;
  let sha256 = "";
  const endOfList = (): Part[] => {
    if (of === null) return [];
    const part: Part = { kind: "records", of, records, isLast: true };
    [of, records] = [null, []];
    return [part];
  };
  const endOfWorkspace = (): Part[] => {
    const parts = endOfList();
    if (windows !== null) parts.push({ kind: "windows", windows });
    windows = null;
    return parts;
  };
  for await (const line of linesIn(path, decryption)) {
    // The record of a workspace itself follows its line.
    if (begun !== null) {
      const record = line.type === "record" ? line.record : null;
      yield { kind: "workspace", workspaceId: begun, record };
      begun = null;
      if (record !== null) continue;
    }
    switch (line.type) {
      case "workspace":
        yield* endOfWorkspace();
        begun = line.workspaceId;
        windows = new Map();
        break;
      case "list":
        yield* endOfList();
        of = line.of;
        break;
      case "record":
        if (of?.kind !== line.record.record.kind) throw unusable("a record is in no list");
        records.push(line.record);
        if (records.length < PART_SIZE) break;
        yield { kind: "records", of, records, isLast: false };
        records = [];
        break;
      case "window":
        windows?.set(line.window.window, line.window);
        break;
      case "end":
        yield* endOfWorkspace();
        sha256 = line.sha256;
        break;
      case "header":
        break;
      default:
        line satisfies never;
    }
  }
  onEnd?.(sha256);
}

async function* linesIn(path: string, decryption: Decryption | undefined): AsyncGenerator<Line> {
  const digest = createHash("sha256");
  let workspaceId = "";
  let count = 0;
  let end: Line | null = null;
  for await (const bytes of rawLines(path, decryption)) {
    if (end !== null) throw unusable("something follows its end");
    const line = parseLine(bytes.toString(), workspaceId);
    if ((count === 0) !== (line.type === "header")) throw unusable("it has no beginning");
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
}

async function* rawLines(path: string, decryption: Decryption | undefined): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of await unpacked(path, decryption)) {
      let text: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      for (let at = text.indexOf(NEWLINE); at !== -1; at = text.indexOf(NEWLINE)) {
        yield text.subarray(0, at);
        text = text.subarray(at + 1);
      }
      rest = text;
    }
  } catch (error) {
    if (error instanceof LatchkeyError) throw error;
    throw unusable("it is cut off, damaged, or none of latchkey's", error);
  }
  if (rest.length > 0) throw unusable("its last line is cut off");
}

async function unpacked(path: string, decryption: Decryption | undefined): Promise<Readable> {
  const hasToBeDecrypted = await isEncrypted(path);
  const file = createReadStream(path);
  const bytes = hasToBeDecrypted ? await decrypted(file, decryption) : file;
  const gunzip = createGunzip();
  bytes.on("error", (error: Error) => gunzip.destroy(error));
  gunzip.on("close", () => bytes.destroy());
  return bytes.pipe(gunzip);
}

async function isEncrypted(path: string): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(AGE_MAGIC.length));
    return buffer.toString("latin1", 0, bytesRead) === AGE_MAGIC;
  } finally {
    await file.close();
  }
}
