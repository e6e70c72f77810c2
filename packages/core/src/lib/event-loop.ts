import type { SpanMs, Timer } from "../time.js";

/** The host's own, also where a test puts a fake one in its place later: no test waits for its clock to pass here. */
const later = setTimeout;

/** Resolves in a later turn of the event loop, so that others get through: a store without I/O never leaves the turn by itself. */
export function yieldToEventLoop(ms = 0): Promise<void> {
  return new Promise((resolve) => later(resolve, ms));
}

/** Lets the process end despite a timer. Node would wait for it; on other hosts, a timer is a plain number. */
export function unref(timer: unknown): void {
  if (typeof timer === "object" && timer !== null && "unref" in timer)
    (timer as { unref(): void }).unref();
}

/** Waits by a monotonic clock. A timer may fire early. */
export async function waitFor(ms: SpanMs, steady: Timer): Promise<void> {
  const since = steady();
  for (let left = ms; left > 0; left = ms - (steady() - since)) await yieldToEventLoop(left);
}
