import type { Latchkey, VerifyOutcome } from "@latchkey/core";
import type { Question } from "../questions.js";
import type { Side } from "./side.js";

/** The library itself, asked with the whole question every time. Closing the side closes the latchkey. */
export function latchkeySide(
  latchkey: Latchkey,
  { input, expected }: Question,
  keyCount: number,
): Side {
  return {
    name: "latchkey",
    verify: (secret, requestId) => latchkey.verifyKey(input(secret, requestId)),
    isExpected: (verdict) => (verdict as VerifyOutcome).code === expected,
    remainingOf: (verdict) => (verdict as { remaining?: number }).remaining ?? null,
    keyCount,
    close: () => latchkey.close(),
  };
}
