import type { SpanMs, Timer } from "../time.js";

/** The host's own timer, even if it is replaced by a fake one later: nothing here waits for a fake clock. */
const later = setTimeout;

/** Resolves in a later turn of the event loop, so that other work gets through: a store without I/O never leaves the turn by itself. */
export function yieldToEventLoop(ms = 0): Promise<void> {
  return new Promise((resolve) => later(resolve, ms));
}

/** Lets the process exit despite a timer. Node.js would wait for it; on other hosts, a timer is a plain number. */
export function unref(timer: unknown): void {
  if (typeof timer === "object" && timer !== null && "unref" in timer)
    (timer as { unref(): void }).unref();
}

/** Waits by a monotonic clock. A timer may fire early. */
export async function waitFor(ms: SpanMs, steady: Timer): Promise<void> {
  const since = steady();
  for (let left = ms; left > 0; left = ms - (steady() - since)) await yieldToEventLoop(left);
}
