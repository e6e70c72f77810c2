import type { LimitCost } from "../../verification/question.js";
import { VERIFY_BOUNDS } from "../verify-key/input.js";
import { hasOnly, isText, isWhole } from "../verify-key/read-request.js";
import type { SettleInput } from "./operations.js";

const FIELDS = new Set(["reservationId", "remaining", "ratelimits"]);
const USES_FIELDS = new Set(["cost"]);
const LIMIT_FIELDS = new Set(["name", "cost"]);

/**
 * Reads the input of settle by hand, each field once; null where the schema has to look at it. Both read the same.
 */
export function readSettleByHand(input: unknown): SettleInput | null {
  if (!hasOnly(input, FIELDS)) return null;
  const { reservationId, remaining, ratelimits } = input;
  if (!isText(reservationId)) return null;
  const uses = remaining === undefined ? undefined : readUses(remaining);
  const limits = ratelimits === undefined ? undefined : readLimits(ratelimits);
  return uses === null || limits === null
    ? null
    : { reservationId, remaining: uses, ratelimits: limits };
}

function readUses(value: unknown): SettleInput["remaining"] | null {
  if (!hasOnly(value, USES_FIELDS)) return null;
  const { cost } = value;
  return isWhole(cost, 0) ? { cost } : null;
}

function readLimits(value: unknown): readonly LimitCost[] | null {
  if (!Array.isArray(value) || value.length > VERIFY_BOUNDS.limits) return null;
  const limits: LimitCost[] = [];
  for (const item of value as readonly unknown[]) {
    if (!hasOnly(item, LIMIT_FIELDS)) return null;
    const { name, cost } = item;
    if (!isText(name) || !isWhole(cost, 0)) return null;
    if (limits.some((other) => other.name === name)) return null;
    limits.push({ name, cost });
  }
  return limits;
}
