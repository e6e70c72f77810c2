/** The host's own, also where a test puts a fake one in its place later: nobody waits for time to pass here. */
const later = setTimeout;

/**
 * Resolves in a later turn of the event loop. Between bounded steps of long work it lets others through: a store without
 * I/O never leaves the turn by itself.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => later(resolve, 0));
}
