import type { EpochMs } from "../../time.js";

/** Whether a key has started. At the instant itself it has, and with null it always has. */
export function isStarted(startsAt: EpochMs | null, now: EpochMs): boolean {
  return startsAt === null || now >= startsAt;
}

/** Whether a key would expire before it may be used, or at that instant: it would never be good. */
export function startsTooLate(startsAt: EpochMs | null, expires: EpochMs | null): boolean {
  return startsAt !== null && expires !== null && startsAt >= expires;
}
