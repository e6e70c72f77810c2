import type { EpochMs } from "../../time.js";

/**
 * Whether a key may be used already. At the instant itself it may.
 *
 * @param startsAt - Unix epoch ms, or null for a key that may be used from its creation on.
 * @param now - Unix epoch ms, handed in by the caller.
 */
export function isStarted(startsAt: EpochMs | null, now: EpochMs): boolean {
  return startsAt === null || now >= startsAt;
}

/** Whether a key would expire before it may be used, or at that instant: it would never be good. */
export function startsTooLate(startsAt: EpochMs | null, expires: EpochMs | null): boolean {
  return startsAt !== null && expires !== null && startsAt >= expires;
}
