import { Random } from "../random.js";
import { installRequests } from "../webhooks/requests.js";
import "./real.js";
import type { Scheduler } from "./scheduler.js";

/** The scheduler of the world that now owns the host's timers and clocks; null: none. */
let current: Scheduler | null = null;
let timers = 0;
let chance = new Random(0);

/** Rejections that were not handled. */
const unhandled: unknown[] = [];

/** Connects the host's timers and clocks to a world. @returns The list to which unhandled rejections are added from now on. */
export function enter(scheduler: Scheduler): readonly unknown[] {
  current = scheduler;
  timers = 0;
  chance = new Random(0);
  unhandled.length = 0;
  return unhandled;
}

/**
 * Replaces the host's timers and clocks with those of the entered world. Import production code after this call: some of it keeps a
 * reference to the host's timer when it is loaded.
 */
export function installHost(): void {
  installRequests();
  // Capturing stack traces takes time, and nobody reads them.
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
  Math.random = () => chance.below(2 ** 30) / 2 ** 30;
  performance.now = () => (current === null ? 0 : current.now);
}
