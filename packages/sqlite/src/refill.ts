import type { Refill } from "@latchkey/core";
import { damaged, whole } from "./values.js";

/** The columns `refill_interval`, `refill_amount` and `refill_day`. */
export function refillColumns(refill: Refill | null): readonly (string | number | null)[] {
  if (refill === null) return [null, null, null];
  return [refill.interval, refill.amount, refill.interval === "monthly" ? refill.refillDay : null];
}

/** The opposite of {@link refillColumns}. */
export function refillOf(interval: unknown, amount: unknown, day: unknown): Refill | null {
  if (interval === null) return amount === null && day === null ? null : damaged();
  if (interval === "daily") return { interval, amount: whole(amount, 1) };
  if (interval !== "monthly" || whole(day, 1) > 31) return damaged();
  return { interval, amount: whole(amount, 1), refillDay: whole(day, 1) };
}
