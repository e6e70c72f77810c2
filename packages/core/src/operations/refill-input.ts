import { z } from "zod";
import { type Duration, LONGEST_DURATION } from "../rules/duration.js";
import {
  LAST_REFILL_DAY,
  REFILL_INTERVALS,
  type RefillSetting,
  SHORTEST_REFILL,
} from "../rules/refill.js";
import { LAST_INSTANT } from "../time.js";
import { orRequired, refuseField, wholeNumber } from "./input.js";
import { spanOf } from "./time-input.js";

/** How uses are restored. */
export interface RefillInput {
  /**
   * In UTC: `hourly` at each full hour, `daily` at midnight, `weekly` and `monthly` at midnight at the start of `refillDay`. `{ every:
   * "90m" }` is counted from the creation of the identity or key (the first key of a rotated chain).
   */
  readonly interval:
    | "hourly"
    | "daily"
    | "weekly"
    | "monthly"
    | {
        /** At least a minute: whole ms from 60,000 to 2^52, or a text such as `"90m"`, `"12h"` or `"7d"`. */
        readonly every: Duration;
      };
  /** Uses after a refill, whole and >= 1. A refill never lowers them. */
  readonly amount: number;
  /** Most unused uses that stay on top of `amount` at a refill: whole and >= 0. Default: 0. */
  readonly carryOver?: number | undefined;
  /** With `weekly` 1 (Monday) to 7; with `monthly` 1 to 31, in a shorter month its last day. Default: 1. */
  readonly refillDay?: number | undefined;
  /** Ignored, so that you can pass the refill of a key unchanged. */
  readonly lastRefillAt?: number | undefined;
}

const every = spanOf(
  SHORTEST_REFILL,
  LONGEST_DURATION,
  `must be a whole number of ms from ${SHORTEST_REFILL} to 2^52, or the same in seconds, minutes, hours or days, such as "90m", "12h" or "7d"`,
);

const interval = z.union([z.enum(REFILL_INTERVALS), z.strictObject({ every })], {
  error: orRequired('must be "hourly", "daily", "weekly", "monthly" or { every: "90m" }'),
});

/**
 * How `remaining` is restored. `refillDay` is only for `weekly` and `monthly`, and 1 by default. `lastRefillAt`, which reads show, is
 * ignored.
 */
export const refill: z.ZodType<RefillSetting, RefillInput> = z
  .strictObject({
    interval,
    amount: wholeNumber(1),
    carryOver: wholeNumber(0).optional(),
    refillDay: wholeNumber(1, 31).optional(),
    lastRefillAt: wholeNumber(0, LAST_INSTANT).optional(),
  })
  .superRefine(({ interval, amount, carryOver = 0, refillDay }, sink) => {
    if (!Number.isSafeInteger(amount + carryOver))
      refuseField(
        sink,
        "carryOver",
        `must be at most ${Number.MAX_SAFE_INTEGER} together with amount`,
      );
    if (refillDay === undefined) return;
    if (interval !== "weekly" && interval !== "monthly")
      refuseField(sink, "refillDay", 'is only allowed with interval "weekly" or "monthly"');
    else if (refillDay > LAST_REFILL_DAY[interval])
      refuseField(
        sink,
        "refillDay",
        `must be a whole number from 1 to ${LAST_REFILL_DAY[interval]}`,
      );
  })
  .transform(
    ({ interval, amount, carryOver = 0, refillDay = 1 }) =>
      ({
        interval,
        amount,
        ...(carryOver > 0 && { carryOver }),
        ...((interval === "weekly" || interval === "monthly") && { refillDay }),
      }) as RefillSetting,
  );
