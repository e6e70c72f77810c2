import type { SpanMs } from "@latchkey/core";

/** Number of senders in one process that may all look for new events at the full pace: 250 looks a second, each of some calls to the store. */
const MOST_AT_FULL_PACE = 125;

/** Senders that run in this process, for any workspace. */
let running = 0;

/** Counts a sender as running. @returns Counts it as ended. To be called once. */
export function enterPace(): () => void {
  running += 1;
  return () => {
    running -= 1;
  };
}

/**
 * How long to wait before the next look. Beyond {@link MOST_AT_FULL_PACE} senders, each waits longer, so that together they ask the store no
 * more often: otherwise, senders of thousands of idle workspaces would hold up verifications. These pauses differ by up to a half, so that
 * senders that looked together do not look together again.
 *
 * @param everyMs - The wait of a single sender.
 * @param chance - A random number from 0 to 1.
 */
export function pacedMs(everyMs: SpanMs, chance: () => number): SpanMs {
  if (running <= MOST_AT_FULL_PACE) return everyMs;
  const longer = (everyMs * running) / MOST_AT_FULL_PACE;
  return Math.max(everyMs, Math.ceil(longer * (0.5 + chance())));
}
