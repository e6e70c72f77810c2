import type { Latchkey, VerifyOutcome } from "@latchkey/core";
import type { Question } from "../questions.js";
import type { Side, Verify } from "./side.js";

/** latchkey itself, given the whole question in every call. Closing the side closes the latchkey. */
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

/** latchkey with a question prepared once by `verifier`, as in a guarded route. Closing the side closes the latchkey. */
export function verifierSide(latchkey: Latchkey, question: Question, keyCount: number): Side {
  const { authorization, remaining, ratelimits, ipAddress } = question.input("", "");
  const verifier = latchkey.verifier({
    ...(authorization !== undefined && { permissions: authorization.permissions }),
    ...(remaining !== undefined && { cost: remaining.cost }),
    ...(ratelimits !== undefined && { ratelimits }),
  });
  let verify: Verify = (secret) => verifier(secret);
  if (ipAddress !== undefined) verify = (secret) => verifier(secret, { ipAddress });
  if (question.hasRequestId) verify = (secret, requestId) => verifier(secret, { requestId });
  return { ...latchkeySide(latchkey, question, keyCount), name: "verifier", verify };
}
