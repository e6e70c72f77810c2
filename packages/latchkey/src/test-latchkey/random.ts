import { createHash } from "node:crypto";
import type { RandomBytes } from "@latchkey/core";

/** Bytes of one SHA-256. */
const BLOCK = 32;

/** Makes a source of the same bytes in every run, so that ids and secrets are the same, too. Only for tests. */
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
