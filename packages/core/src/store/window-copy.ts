import type { RateWindow } from "../rules/rate-window.js";
import type { SpanMs } from "../time.js";
import type { ChargeMoment, LimitReading } from "./charge.js";

/** The moment at which a plan that only looks sees each window as it is stored: a stored window never goes back. */
export const AS_STORED: ChargeMoment = Object.freeze({ now: 0, refill: null });

/** The window that a plan which took nothing at {@link AS_STORED} has read; null where none is stored, or nothing was used in it. */
export function storedWindow(reading: LimitReading, duration: SpanMs): RateWindow | null {
  const used = reading.limit - reading.remaining;
  return used === 0 ? null : { startedAt: reading.resetAt - duration, used };
}

/** The moment at which a charge of `used` units writes a window as it was, where none is stored. */
export function momentOf({ startedAt }: RateWindow): ChargeMoment {
  return { now: startedAt, refill: null };
}
