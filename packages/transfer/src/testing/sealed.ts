import { hash } from "node:crypto";
import { gzipSync } from "node:zlib";

/** Lines of a backup with the matching end line, packed. */
export function sealed(lines: readonly string[]): Buffer {
  const sha256 = hash("sha256", lines.map((line) => `${line}\n`).join(""));
  return gzipSync([...lines, JSON.stringify({ lines: lines.length, sha256 }), ""].join("\n"));
}
