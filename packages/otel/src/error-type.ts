import { LatchkeyError } from "@latchkey/core";

/**
 * The `error.type` of an error: its code, or `_OTHER`, so that the number of values is bounded. Its message may contain more than
 * a label should.
 */
export function errorTypeOf(error: unknown): string {
  return error instanceof LatchkeyError ? error.code : "_OTHER";
}
