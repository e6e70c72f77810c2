import type { Scheduler } from "./scheduler.js";

/** The world that timers and clocks of the host belong to now. */
let current: Scheduler | null = null;
let timers = 0;

/** Puts the timers and the clock of a world in the place of the host's. */
export function enter(scheduler: Scheduler): void {
  current = scheduler;
  timers = 0;
}

/**
 * Replaces the host's timers and clocks by those of the world that was entered. Import production code after this: some of it keeps
 * the host's timer when it is loaded.
 */
export function installHost(): void {
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
    clearTimeout: stopTimer,
    clearInterval: stopTimer,
  };
  Object.assign(globalThis, simulated);
  const real = Date.now;
  Date.now = () => current?.now ?? real();
  performance.now = () => (current === null ? 0 : current.now);
}
