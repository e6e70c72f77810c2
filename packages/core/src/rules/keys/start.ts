import type { EpochMs } from "../../time.js";

/** Whether a key has started. At exactly `startsAt` it has; with null it always has. */
export function isStarted(startsAt: EpochMs | null, now: EpochMs): boolean {
  return startsAt === null || now >= startsAt;
}

/** Whether a key would expire before it starts, or at the same instant: it would never be valid. */
export function startsTooLate(startsAt: EpochMs | null, expires: EpochMs | null): boolean {
  return startsAt !== null && expires !== null && startsAt >= expires;
}
