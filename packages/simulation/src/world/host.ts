import "./real.js";
import type { Scheduler } from "./scheduler.js";

/** The world that timers and clocks of the host belong to now. */
let current: Scheduler | null = null;
let timers = 0;

/** Errors of promises that nobody waits for. */
const unhandled: unknown[] = [];

/** Puts the timers and the clock of a world in the place of the host's. @returns Errors that nobody hears of from now on. */
export function enter(scheduler: Scheduler): readonly unknown[] {
  current = scheduler;
  timers = 0;
  unhandled.length = 0;
  return unhandled;
}

/**
 * Replaces the host's timers and clocks by those of the world that was entered. Import production code after this: some of it keeps
 * the host's timer when it is loaded.
 */
export function installHost(): void {
  // To write them down takes time, and nobody reads them.
  Error.stackTraceLimit = 0;
  process.on("unhandledRejection", (error) => unhandled.push(error));
  const startTimer = (callback: () => void, delayMs = 0, repeats = false): unknown => {
    if (current === null) throw new Error("no simulated world was entered");
    const scheduler = current;
    timers += 1;
    const order = timers;
    let callOff = (): unknown => undefined;
    const start = (): void => {
      callOff = scheduler.after(delayMs, order, () => {
        if (repeats) start();
        callback();
      });
    };
    start();
    return { callOff: () => callOff(), unref() {}, ref() {} };
  };
  const stopTimer = (timer: { readonly callOff?: () => void } | null | undefined): void =>
    timer?.callOff?.();
  const simulated = {
    setTimeout: (callback: () => void, delayMs?: number) => startTimer(callback, delayMs),
    setInterval: (callback: () => void, delayMs?: number) => startTimer(callback, delayMs, true),
    setImmediate: (callback: () => void) => startTimer(callback),
    clearTimeout: stopTimer,
    clearInterval: stopTimer,
  };
  Object.assign(globalThis, simulated);
  const real = Date.now;
  Date.now = () => current?.now ?? real();
  performance.now = () => (current === null ? 0 : current.now);
}
