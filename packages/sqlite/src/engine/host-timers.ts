import { setImmediate as nodeImmediate, setTimeout as nodeTimeout } from "node:timers";

// Taken when this module loads, so a test that replaces the timers later, also those of `node:timers`, does not stop a store.
const [immediate, timeout] = [nodeImmediate, nodeTimeout];
const clock = performance;
const now = clock.now;

/** `performance.now()`, even if a test has replaced the clock since. */
export function steadyNow(): number {
  return now.call(clock);
}

/** Calls a function in a later turn of the event loop, even if a test has replaced the timers since. */
export function inLaterTurn(call: () => void): void {
  immediate(call);
}

/** Resolves in a later turn of the event loop, and after `ms` if given, even if a test has replaced the timers since. */
export function laterTurn(ms?: number): Promise<void> {
  return new Promise((resolve) => {
    if (ms === undefined) immediate(resolve);
    else timeout(resolve, ms);
  });
}
