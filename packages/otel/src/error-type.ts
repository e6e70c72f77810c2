import { LatchkeyError } from "@latchkey/core";

/** What an error is called in `error.type`: its code, or `_OTHER`, so that there are never more than so many. Its message may say more than a label should. */
export function errorTypeOf(error: unknown): string {
  return error instanceof LatchkeyError ? error.code : "_OTHER";
}
