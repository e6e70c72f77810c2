import type { Refill } from "../rules/refill.js";
import type { BodyReader } from "./body.js";

/** Reads a refill, of a key or of an identity. */
export function readRefill(body: BodyReader): Refill {
  const interval = body.word("interval", ["daily", "monthly"]);
  const amount = body.positive("amount");
  if (interval === "daily") return { interval, amount };
  const refillDay = body.positive("refillDay");
  if (refillDay > 31) throw new TypeError('the stored "refillDay" is not what was written');
  return { interval, amount, refillDay };
}
