import { createHash } from "node:crypto";
import type { RandomBytes } from "@latchkey/core";

/** Bytes of one SHA-256. */
const BLOCK = 32;

/** Makes a source of bytes that are the same in every run, so that ids and secrets are, too: for tests, and for nothing else. */
export function createTestRandom(): RandomBytes {
  let draws = 0;
  return (size) => {
    draws += 1;
    const blocks = Array.from({ length: Math.ceil(size / BLOCK) }, (_, index) =>
      createHash("sha256").update(`${draws} ${index}`).digest(),
    );
    return new Uint8Array(Buffer.concat(blocks, size));
  };
}
