import { z } from "zod";
import { badField, type LatchkeyError, unmet } from "../errors.js";
import { type Duration, LONGEST_DURATION } from "../rules/duration.js";
import {
  dueRefill,
  LAST_REFILL_DAY,
  REFILL_INTERVALS,
  type Refill,
  type RefillSetting,
  refillAfter,
  refillSetting,
  SHORTEST_REFILL,
} from "../rules/refill.js";
import {
  applyRefill,
  countedRefill,
  type Usage,
  type UsageChange,
  type UsageRefusal,
} from "../store/counters.js";
import { type EpochMs, LAST_INSTANT, type SpanMs } from "../time.js";
import { optional, orRequired, refuseField, wholeNumber } from "./input.js";
import { spanOf } from "./time-input.js";

type Interval<Span> =
  | "hourly"
  | "daily"
  | "weekly"
  | "monthly"
  | {
      /** At least a minute, at most 2^52 ms. */
      readonly every: Span;
    };

/** How uses are restored. */
export interface RefillInput {
  /**
   * In UTC: `hourly` at each full hour, `daily` at midnight, `weekly` and `monthly` at midnight at the start of `refillDay`. `{ every:
   * "90m" }` (whole ms from 60,000, or a text such as `"12h"` or `"7d"`) is counted from the creation of the identity or key (the first key
   * of a rotated chain).
   */
  readonly interval: Interval<Duration>;
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

/** How `remaining` is restored. `refillDay` is 1 by default. `lastRefillAt`, which reads show, is ignored. */
export const refill: z.ZodType<RefillSetting, RefillInput> = z
  .strictObject({
    interval,
    amount: wholeNumber(1),
    ...optional({
      carryOver: wholeNumber(0),
      refillDay: wholeNumber(1, 31),
      lastRefillAt: wholeNumber(0, LAST_INSTANT),
    }),
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

/** A refill. */
export interface RefillView {
  /** As in `RefillInput`; `every` in ms. */
  readonly interval: Interval<SpanMs>;
  /** Uses after a refill, which never lowers them. */
  readonly amount: number;
  /** Most unused uses that stay on top of `amount` at a refill; absent: none. */
  readonly carryOver?: number;
  /** As in `RefillInput`. */
  readonly refillDay?: number;
  /** Unix epoch ms of the last refill; absent before the first. Setting `remaining` is not a refill. */
  readonly lastRefillAt?: EpochMs;
}

/** A refill as views show it. `lastRefillAt`: when it last happened; null for never. */
export function toRefillView(refill: Refill, lastRefillAt: EpochMs | null): RefillView {
  return { ...refillSetting(refill), ...(lastRefillAt !== null && { lastRefillAt }) };
}

/** New uses of a key or an identity. Undefined leaves a field as it is, null clears it. */
export interface UsesUpdate {
  readonly remaining?: number | null | undefined;
  readonly refill?: Refill | null | undefined;
}

/** What an update of uses writes, and what it found. */
export interface UsesSetting {
  /** Uses left before, including a due refill; null for unlimited. */
  readonly remainingBefore: number | null;
  /** Undefined: the counter stays as it is. */
  readonly usage: UsageChange | undefined;
  /** Whether it is a change even if uses and refill keep their values: see {@link isMoreThanSet}. */
  readonly isMoreThanSet: boolean;
  /** Undefined: it stays as it is. Unlimited uses lose their refill. */
  readonly refill: Refill | null | undefined;
}

/**
 * Decides what an update of `remaining` and `refill` writes.
 *
 * Refills restart at `now`, even if a clock that was ahead recorded a later instant as the last refill. Refills that fell due before follow
 * the old rule.
 *
 * @throws LatchkeyError `BAD_REQUEST` for a refill of unlimited uses.
 */
export function settingOfUses(
  { usage, refill }: { readonly usage: Usage; readonly refill: Refill | null },
  wanted: UsesUpdate,
  now: EpochMs,
): UsesSetting {
  const due = countedRefill(usage, dueRefill(refill, now));
  const remainingBefore = applyRefill(usage, due).remaining;
  const remaining = wanted.remaining === undefined ? remainingBefore : wanted.remaining;
  if (remaining === null && wanted.refill !== undefined && wanted.refill !== null)
    throw badField("refill", "needs remaining");
  const after = refillAfter(wanted.refill === undefined ? refill : wanted.refill, remaining);
  const isSet = wanted.remaining !== undefined || wanted.refill !== undefined;
  const operation: UsageChange["operation"] =
    wanted.remaining === undefined
      ? { kind: "keep" }
      : { kind: "set", remaining: wanted.remaining };
  return {
    remainingBefore,
    usage: isSet ? { due, operation, restartsAt: now } : undefined,
    isMoreThanSet: isSet && isMoreThanSet(usage, now, operation.kind === "set"),
    refill: after === refill ? undefined : after,
  };
}

/**
 * Whether setting uses to their current value changes something: a clock that was ahead has applied refills that are not due yet, and
 * refills restart; or uses are held, and will no longer be returned.
 */
export function isMoreThanSet(
  { refilledAt, lastRefillAt, holds }: Usage,
  now: EpochMs,
  setsUses: boolean,
): boolean {
  if (setsUses && (holds?.uses ?? 0) > 0) return true;
  return refilledAt > now || (lastRefillAt ?? 0) > now;
}

/** The error for a refused change of uses. `path`: the field that caused it. `held`: uses that reservations and leases hold. */
export function refuseUsageChange(
  reason: UsageRefusal,
  path: string,
  held: number = 0,
): LatchkeyError {
  switch (reason.kind) {
    case "unlimited":
      return badField("op", 'must be "set": the uses are unlimited');
    case "insufficient":
      return unmet(
        "insufficient-uses",
        `only ${reason.remaining} uses are left${held > 0 ? `, and ${held} are reserved` : ""}; nothing was changed`,
        {
          remaining: reason.remaining,
          ...(held > 0 && { reserved: { uses: held, ratelimits: [] } }),
        },
      );
    case "overflow":
      return badField(path, `must keep remaining at or below ${Number.MAX_SAFE_INTEGER}`);
    default:
      return reason satisfies never;
  }
}

/** The error for a change to the own uses of a key that takes them from its identity. */
export function usesAreOfIdentity(): LatchkeyError {
  return unmet(
    "uses-from-identity",
    "this key takes its uses from its identity: change remaining and refill with updateIdentity",
  );
}
