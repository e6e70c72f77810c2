import type { EventEmitter } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { Host } from "./host.js";

/**
 * Makes {@link Host.pause}. From the first pause on, the first SIGTERM or SIGINT asks the program to stop, even between two pauses: what it
 * is doing then ends as usual. The second one ends the program at once.
 *
 * @param signals - Emits the signals: the process.
 */
export function pauser(signals: EventEmitter): Host["pause"] {
  const stopped = new AbortController();
  let isListening = false;
  const stop = () => {
    signals.off("SIGTERM", stop).off("SIGINT", stop);
    stopped.abort();
  };
  return (ms) => {
    if (!isListening) signals.on("SIGTERM", stop).on("SIGINT", stop);
    isListening = true;
    return setTimeout(ms, true, { signal: stopped.signal }).catch(() => false);
  };
}
