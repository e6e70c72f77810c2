import { badRequest, LatchkeyError } from "../errors.js";
import type { UsageRefusal } from "../store/counters.js";

/**
 * The error for a change to the uses left that was refused.
 *
 * @param path - The input field that it follows from.
 */
export function refuseUsageChange(reason: UsageRefusal, path: string): LatchkeyError {
  switch (reason.kind) {
    case "unlimited":
      return badRequest([{ path: "op", message: 'must be "set": the key has no limit on uses' }]);
    case "insufficient":
      return new LatchkeyError(
        "PRECONDITION_FAILED",
        `only ${reason.remaining} uses are left; nothing was changed`,
        { reason: "insufficient-uses", details: { remaining: reason.remaining } },
      );
    case "overflow":
      return badRequest([
        { path, message: `must keep remaining at or below ${Number.MAX_SAFE_INTEGER}` },
      ]);
    default:
      return reason satisfies never;
  }
}

/** The error for a change to the own uses of a key that takes them from its identity. */
export function usesAreOfIdentity(): LatchkeyError {
  return new LatchkeyError(
    "PRECONDITION_FAILED",
    "this key takes its uses from its identity: change remaining and refill with updateIdentity",
    { reason: "uses-from-identity" },
  );
}
