import type { SpanMs, Timer } from "../time.js";

/** Whether a value is a promise of any kind, so that it can be waited for. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value;
}

/** Runs work one at a time for each name. */
export type Exclusive = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

/** Makes an {@link Exclusive} for this process. Work of one name runs in the order of the calls. */
export function createExclusive(): Exclusive {
  const last = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const previous = last.get(name) ?? Promise.resolve();
    const current = previous.then(work, work);
    const settled = current.catch(() => undefined);
    last.set(name, settled);
    try {
      return await current;
    } finally {
      if (last.get(name) === settled) last.delete(name);
    }
  };
}

/** Does something with each item, with at most `most` at the same time: who ends takes the next. @throws What the work throws. */
export async function withEachAtOnce<Item>(
  items: Iterable<Item>,
  most: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items].values();
  const takeNext = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: most }, takeNext));
}

/** The host's own timers, even if they are replaced by fake ones later: nothing here waits for a fake clock. */
const later = setTimeout;
/** Calls a function after what has arrived on sockets was read. */
export const afterInputAndOutput: (call: () => void) => void =
  typeof setImmediate === "function" ? setImmediate : (call) => call();

/**
 * Resolves in a later turn of the event loop, so that other work gets through: a store without I/O never leaves the turn by itself. A timer
 * alone is not enough: after a callback of `setImmediate`, Node.js runs due timers before it reads from sockets.
 */
export function yieldToEventLoop(ms = 0): Promise<void> {
  return new Promise((resolve) => later(() => afterInputAndOutput(resolve), ms));
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
