import { hasOnly, isText, isWhole, readCosts } from "../verify-key/read-request.js";
import type { SettleInput } from "./operations.js";

const FIELDS = new Set(["reservationId", "remaining", "ratelimits"]);
const USES_FIELDS = new Set(["cost"]);

/** Reads the input of settle by hand, each field once; null if the schema must check it. Both return the same. */
export function readSettleByHand(input: unknown): SettleInput | null {
  if (!hasOnly(input, FIELDS)) return null;
  const { reservationId, remaining, ratelimits } = input;
  if (!isText(reservationId)) return null;
  const uses = remaining === undefined ? undefined : readUses(remaining);
  const limits = ratelimits === undefined ? undefined : readCosts(ratelimits);
  return uses === null || limits === null
    ? null
    : { reservationId, remaining: uses, ratelimits: limits };
}

function readUses(value: unknown): SettleInput["remaining"] | null {
  if (!hasOnly(value, USES_FIELDS)) return null;
  const { cost } = value;
  return isWhole(cost, 0) ? { cost } : null;
}
